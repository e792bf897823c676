import type Database from 'better-sqlite3'
import type { Mirror } from '../../../mirror/open.ts'

type Kind = 'rows' | 'lists' | 'values'
type StatementCache = Readonly<Record<Kind, Map<string, Database.Statement>>>

/**
 * Limits a statement to `@rows` rows. A parameter alone would tell SQLite's planner the limit, so SQLite would compile the
 * statement again at each call.
 */
export const LIMIT_ROWS = 'limit @rows + 0'

/** How many statements of each kind are cached. The number must be limited, because the SQL depends on the query. */
const CACHED_MAX = 100

const caches = new WeakMap<Mirror, StatementCache>()

/** The statement for this SQL on this connection. It is compiled once, or again if the cached one is in use. */
export const rowsOf = <Row>(db: Mirror, sql: string): Database.Statement<[object], Row> =>
  statementOf(db, sql, 'rows') as Database.Statement<[object], Row>

/** The same with rows as arrays. */
export const listsOf = <Row>(db: Mirror, sql: string): Database.Statement<[object], Row> =>
  statementOf(db, sql, 'lists') as Database.Statement<[object], Row>

/** The same with only the first column. */
export const valuesOf = <Value>(db: Mirror, sql: string): Database.Statement<[object], Value> =>
  statementOf(db, sql, 'values') as Database.Statement<[object], Value>

function statementOf(db: Mirror, sql: string, kind: Kind): Database.Statement {
  const cache: StatementCache = caches.get(db) ?? { rows: new Map(), lists: new Map(), values: new Map() }
  caches.set(db, cache)
  const statements = cache[kind]
  const known = statements.get(sql)
  if (known !== undefined && !known.busy) {
    // Moved to the end, so that the least recently used one is first.
    statements.delete(sql)
    statements.set(sql, known)
    return known
  }
  const made = prepare(db, sql, kind)
  if (known !== undefined) return made
  const [oldest] = statements.keys()
  if (oldest !== undefined && statements.size >= CACHED_MAX) statements.delete(oldest)
  statements.set(sql, made)
  return made
}

function prepare(db: Mirror, sql: string, kind: Kind): Database.Statement {
  const statement = db.prepare(sql)
  if (kind === 'lists') return statement.raw()
  return kind === 'values' ? statement.pluck() : statement
}
