import type { Ledger } from './world.ts'

/** What those who follow the history know of the jobs in the store. */
export interface Books extends Ledger {
  readonly known: Set<string>
  /** The last retry of each job: a repeat of it is answered like the first. */
  readonly retries: Map<string, string>
}

export function copyOf({ known, open, stopped, dead, retries }: Books): Books {
  return {
    known: new Set(known),
    open: new Set(open),
    stopped: new Set(stopped),
    dead: new Set(dead),
    retries: new Map(retries),
  }
}

/** The database went back to what it was then, and so do they. */
export function putBack(books: Books, copy: Books): void {
  for (const which of ['known', 'open', 'stopped', 'dead'] as const) {
    books[which].clear()
    for (const job of copy[which]) books[which].add(job)
  }
  books.retries.clear()
  for (const [job, token] of copy.retries) books.retries.set(job, token)
}
