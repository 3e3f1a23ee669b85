import { HoldfastError } from '../../engine/errors.ts'

/** There were more states, or more schedules, than there was room for. */
export class TooMuch extends HoldfastError {
  readonly code = 'TOO_MUCH_TO_EXPLORE'
}
