import { HoldfastError } from '../engine/errors.ts'

/** Errors that stores have in common. None is an outage: waiting does not mend it. */

/** The tables are missing, or were made by a release that this one cannot work beside. */
export class SchemaUnusable extends HoldfastError {
  readonly code = 'STORE_SCHEMA'
}

/** The store was closed; nothing was done. */
export class StoreClosed extends HoldfastError {
  readonly code = 'STORE_CLOSED'
}

/** What is stored is damaged, or is no database at all. */
export class StoreCorrupt extends HoldfastError {
  readonly code = 'STORE_CORRUPT'
}

/** Another process, or this one, has the files of the store open, and only one may. Nothing was touched. */
export class StoreInUse extends HoldfastError {
  readonly code = 'STORE_IN_USE'
  /** The process that has them. */
  readonly pid: number
  constructor(message: string, pid: number) {
    super(message)
    this.pid = pid
  }
}
