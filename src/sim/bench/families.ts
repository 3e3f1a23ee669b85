import type { FamilyName } from '../faults/fault.ts'
import { families, serviceFamilies } from '../faults/index.ts'

/** Not for a bench that does not ask: they put something else in the place of its handlers, or cancel its jobs. */
const unfit: ReadonlySet<FamilyName> = new Set<FamilyName>([
  'handler-throws-odd',
  'handler-hangs',
  'handler-ignores-signal',
  'handler-kills',
  'handler-returns-unstorable',
  'operator',
])

/** The families under which a bench's own handlers run as they are. */
export function fittingFamilies(served: boolean): readonly FamilyName[] {
  return [...families, ...(served ? serviceFamilies : [])]
    .map(({ name }) => name)
    .filter((name) => !unfit.has(name))
}
