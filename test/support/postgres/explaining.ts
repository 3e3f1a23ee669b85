import type pg from 'pg'
import {
  type Database,
  type Param,
  type Session,
  type Value,
  decoded,
  encoded,
} from '../../../src/stores/postgres/database.ts'
import { localSettings } from '../../../src/stores/postgres/connections.ts'

/** One node of a plan as PostgreSQL tells it, with what it really did. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'TID Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

export interface Explained {
  readonly sql: string
  /** As planned for these parameters, and carried out. */
  readonly carriedOut: PlanNode
  /** As planned for any parameters; carried out it was not. */
  readonly generic: PlanNode
}

/**
 * A database over one connection that explains each statement, under the settings of the store, before it runs it.
 * What a statement does while it is explained is undone. Without a list it explains nothing.
 */
export function explaining(client: pg.Client, explained: Explained[] | null): Database {
  const ask = async (sql: string, params: readonly Param[] = []): Promise<Value[][]> => {
    const { rows } = await client.query({
      text: sql,
      values: encoded(params),
      rowMode: 'array',
      types: { getTypeParser: (typeId: number) => (value: string) => decoded(typeId, value) },
    } as pg.QueryArrayConfig)
    return rows as Value[][]
  }
  const plan = async (sql: string, params: readonly Param[] = []): Promise<PlanNode> => {
    const [row] = await ask(sql, params)
    const [root] = JSON.parse(String(row?.[0])) as readonly { readonly Plan: PlanNode }[]
    return (root as { readonly Plan: PlanNode }).Plan
  }
  const query = async (sql: string, params: readonly Param[] = []): Promise<Value[][]> => {
    if (explained) explained.push(await explain(sql, params))
    return ask(sql, params)
  }
  const explain = async (sql: string, params: readonly Param[]): Promise<Explained> => {
    await client.query('savepoint explained')
    const carriedOut = await plan(`explain (analyze, timing off, format json) ${sql}`, params)
    await client.query('rollback to explained')
    await client.query(`prepare generic as ${sql}`)
    const nothing = params.length > 0 ? `(${params.map(() => 'null').join(', ')})` : ''
    const generic = await plan(`explain (format json) execute generic${nothing}`)
    await client.query('deallocate generic')
    return { sql, carriedOut, generic }
  }
  const within = async <R>(work: (session: Session, undo: () => void) => Promise<R>): Promise<R> => {
    let keep = true
    await client.query(
      `begin; ${localSettings(60_000, 'common')}; set local plan_cache_mode = force_generic_plan`,
    )
    const value = await work({ query } as Session, () => void (keep = false))
    await client.query(keep ? 'commit' : 'rollback')
    return value
  }
  return {
    autocommit: (_use, work) => within(work),
    transaction: (_use, work) => within(work),
    shared: () => Promise.reject(new Error('nothing here is asked within a transaction of a handler')),
    script: async (sql) => void (await client.query(sql)),
    close: async () => {},
  }
}

/** All nodes of a plan. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}
