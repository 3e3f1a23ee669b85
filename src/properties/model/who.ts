/**
 * Names of processes. A node that restarts keeps its name and gets a new incarnation: only both together
 * name a holder.
 */
export interface Who {
  readonly node: string
  readonly incarnation: number
}

export function isSame(a: Who, b: Who): boolean {
  return a.incarnation === b.incarnation && a.node === b.node
}

export function nameOf({ node, incarnation }: Who): string {
  return `${node}#${incarnation}`
}
