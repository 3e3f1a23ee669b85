import { InvalidConfig } from '../../engine/errors.ts'

export const defaultSchema = 'holdfast'

/** Names that need no quoting, so that they can stand anywhere in a text. Throws `InvalidConfig` for others. */
export function requireIdentifier(what: string, name: string): void {
  if (/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(name)) return
  throw new InvalidConfig(
    `${what} must be 1 to 63 lower-case letters, digits and underscores, not ${JSON.stringify(name)}`,
  )
}

/** Statements as they are written, to statements on one schema; each is translated once. */
export function schemaTexts(schema: string): (sql: string) => string {
  requireIdentifier('schema', schema)
  const texts = new Map<string, string>()
  return (sql) => {
    let text = texts.get(sql)
    if (text === undefined) texts.set(sql, (text = inSchema(sql, schema)))
    return text
  }
}

export function inSchema(sql: string, schema: string): string {
  return schema === defaultSchema ? sql : sql.replaceAll(/\bholdfast\b/g, schema)
}
