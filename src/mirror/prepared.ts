import type Database from 'better-sqlite3'
import type { Mirror } from './open.ts'

const statements = new WeakMap<Mirror, Map<string, Database.Statement>>()

/**
 * The prepared statement for this SQL on this connection. It is compiled once and then reused. Whether it gives objects or
 * values is said anew at each use: two files may ask the same question.
 */
export function prepared<Row = unknown>(db: Mirror, sql: string): Database.Statement<unknown[], Row> {
  let ofConnection = statements.get(db)
  if (ofConnection === undefined) statements.set(db, (ofConnection = new Map()))
  let statement = ofConnection.get(sql)
  if (statement === undefined) ofConnection.set(sql, (statement = db.prepare(sql)))
  else if (statement.reader) statement.pluck(false).raw(false)
  return statement as Database.Statement<unknown[], Row>
}
