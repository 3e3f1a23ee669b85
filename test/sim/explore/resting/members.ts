import type { RestState } from '../../../../src/engine/rest-state.ts'

type Plain = Readonly<Record<string, unknown>>

/** The paths of all that it says; a list of objects stands for what each of them says. */
export function membersOf(state: unknown, path = ''): string[] {
  if (Array.isArray(state)) {
    return state.some(isPlain)
      ? state.flatMap((item) => membersOf(item, path))
      : state.length > 0
        ? [path]
        : []
  }
  if (!isPlain(state)) return [path]
  return Object.entries(state).flatMap(([name, item]) =>
    membersOf(item, path === '' ? name : `${path}.${name}`),
  )
}

/** The same without what is at this path. */
export function without(state: RestState, [name = '', ...rest]: readonly string[]): RestState {
  if (state === null || !(name in state)) return state
  const { [name]: member, ...others } = state
  if (rest.length === 0) return others
  const deeper = (item: unknown): unknown => (isPlain(item) ? without(item, rest) : item)
  return { ...state, [name]: Array.isArray(member) ? member.map(deeper) : deeper(member) }
}

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
