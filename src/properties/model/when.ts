/**
 * Times as messages say them. One unit and one clock everywhere: an instant looks as it does in a trace, so that it
 * can be looked up there.
 */
export function instant(ms: number): string {
  return `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1_000).toFixed(3)}s`
}

export function span(ms: number): string {
  return `${Number((ms / 1_000).toFixed(3))} s`
}
