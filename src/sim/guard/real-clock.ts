/** Real time for the bench itself: bound before anything is patched, and never armed. */
const { performance: real } = globalThis

export function realMs(): number {
  return real.now()
}
