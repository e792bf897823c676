import type Database from 'better-sqlite3'
import type { Mirror } from './open.ts'

const statements = new WeakMap<Mirror, Map<string, Database.Statement>>()

/**
 * The prepared statement for this SQL on this connection. It is compiled once and then reused. Two files may ask the same
 * question, one for rows and one for values, so each form of answer is a statement of its own.
 */
export function prepared<Row = unknown>(db: Mirror, sql: string): Database.Statement<unknown[], Row> {
  let ofConnection = statements.get(db)
  if (ofConnection === undefined) statements.set(db, (ofConnection = new Map()))
  let statement = ofConnection.get(sql)
  if (statement === undefined) ofConnection.set(sql, (statement = withForms(db, sql)))
  return statement as Database.Statement<unknown[], Row>
}

function withForms(db: Mirror, sql: string): Database.Statement {
  let plucked: Database.Statement | null = null
  let raw: Database.Statement | null = null
  return Object.assign(db.prepare(sql), {
    pluck: () => (plucked ??= db.prepare(sql).pluck()),
    raw: () => (raw ??= db.prepare(sql).raw()),
  })
}
