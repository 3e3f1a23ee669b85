/**
 * A condition that always holds, of which the planner expects that one row in 200 meets it. How long a list is it
 * sees only when it plans for that list alone; a long one makes it join over the whole table, which costs more than
 * looking its rows up by key, and leaves the order in which they are locked to it.
 */
export function few(number: string): string {
  return `${number} + 0 = ${number}`
}
