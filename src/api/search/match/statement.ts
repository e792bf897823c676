import type Database from 'better-sqlite3'
import type { Mirror } from '../../../mirror/open.ts'

type Kind = 'rows' | 'lists' | 'values'
type Kept = Readonly<Record<Kind, Map<string, Database.Statement>>>

/** Of each kind. What a search asks depends on the query: there is no end of texts. */
const KEPT_MAX = 100

const kept = new WeakMap<Mirror, Kept>()

/** The statement of this text on this connection, compiled once, or anew while it is being walked. */
export const rowsOf = <Row>(db: Mirror, sql: string): Database.Statement<[object], Row> =>
  statementOf(db, sql, 'rows') as Database.Statement<[object], Row>

/** The same, rows of which are lists. */
export const listsOf = <Row>(db: Mirror, sql: string): Database.Statement<[object], Row> =>
  statementOf(db, sql, 'lists') as Database.Statement<[object], Row>

/** The same, of which only the first column is read. */
export const valuesOf = <Value>(db: Mirror, sql: string): Database.Statement<[object], Value> =>
  statementOf(db, sql, 'values') as Database.Statement<[object], Value>

function statementOf(db: Mirror, sql: string, kind: Kind): Database.Statement {
  const ofConnection: Kept = kept.get(db) ?? { rows: new Map(), lists: new Map(), values: new Map() }
  kept.set(db, ofConnection)
  const statements = ofConnection[kind]
  const known = statements.get(sql)
  if (known !== undefined && !known.busy) {
    // The one that was used last stands last.
    statements.delete(sql)
    statements.set(sql, known)
    return known
  }
  const made = prepare(db, sql, kind)
  if (known !== undefined) return made
  const [oldest] = statements.keys()
  if (oldest !== undefined && statements.size >= KEPT_MAX) statements.delete(oldest)
  statements.set(sql, made)
  return made
}

function prepare(db: Mirror, sql: string, kind: Kind): Database.Statement {
  const statement = db.prepare(sql)
  if (kind === 'lists') return statement.raw()
  return kind === 'values' ? statement.pluck() : statement
}
