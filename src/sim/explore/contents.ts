import type { JobRecord } from '../../engine/jobs/record.ts'
import type { Message } from '../faults/wire.ts'
import { jobOn } from './database.ts'
import { Portrait, type Texts } from './portrait.ts'

/** What events are about, each drawn once: a message stands in many states before it is there. */
export class Contents {
  readonly #texts: Texts
  readonly #messages = new WeakMap<object, Portrait>()

  constructor(texts: Texts) {
    this.#texts = texts
  }

  of(about: unknown): Portrait {
    if (typeof about !== 'object' || about === null) {
      const portrait = new Portrait(this.#texts)
      portrait.value(about)
      return portrait
    }
    let portrait = this.#messages.get(about)
    if (!portrait) this.#messages.set(about, (portrait = this.#drawn(about as Message)))
    return portrait
  }

  #drawn({ what, owner, call, content }: Message): Portrait {
    const portrait = new Portrait(this.#texts)
    portrait.text(what)
    portrait.mix(owner.node.index)
    portrait.text(call)
    if (call === 'jobs.get' && isRow(what, content)) jobOn(portrait, content)
    else portrait.value(content)
    return portrait
  }
}

function isRow(what: Message['what'], content: unknown): content is JobRecord {
  return what === 'reply' && typeof content === 'object' && content !== null
}
