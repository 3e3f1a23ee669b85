import type { Control, ControlChange } from '../../engine/ports/store.ts'
import { type Content, byText } from './content.ts'

export function set(content: Content, change: ControlChange): Control {
  const { hold, paused } = content.control
  if ('hold' in change) content.control = { hold: change.hold, paused }
  else {
    const others = paused.filter((queue) => queue !== change.queue)
    content.control = { hold, paused: change.paused ? [...others, change.queue].sort(byText) : others }
  }
  return content.control
}
