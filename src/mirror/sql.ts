import type Database from 'better-sqlite3'
import type { Mirror } from './open.ts'

const statements = new WeakMap<Mirror, Map<string, Database.Statement>>()
/** How many statements of a connection are kept. At this number all are dropped: the SQL of a search depends on its query. */
const KEPT_MAX = 500

/** Rows as objects, as lists of their columns, or as their first column. */
type Form = 'rows' | 'lists' | 'values'

/**
 * The prepared statement for this SQL on this connection. It is compiled once and then reused. Two files may ask the same
 * question, one for rows and one for values, so each form of answer is a statement of its own.
 */
export function prepared<Row = unknown>(
  db: Mirror,
  sql: string,
  form: Form = 'rows',
): Database.Statement<unknown[], Row> {
  const name = `${form} ${sql}`
  let ofConnection = statements.get(db)
  if (ofConnection === undefined) statements.set(db, (ofConnection = new Map()))
  let statement = ofConnection.get(name)
  if (statement === undefined) {
    if (ofConnection.size >= KEPT_MAX) ofConnection.clear()
    ofConnection.set(name, (statement = prepare(db, sql, form)))
  }
  return statement as Database.Statement<unknown[], Row>
}

const prepare = (db: Mirror, sql: string, form: Form): Database.Statement =>
  form === 'rows'
    ? withForms(db, sql)
    : db
        .prepare(sql)
        .pluck(form === 'values')
        .raw(form === 'lists')

function withForms(db: Mirror, sql: string): Database.Statement {
  let plucked: Database.Statement | null = null
  let raw: Database.Statement | null = null
  return Object.assign(db.prepare(sql), {
    pluck: () => (plucked ??= db.prepare(sql).pluck()),
    raw: () => (raw ??= db.prepare(sql).raw()),
  })
}

/** A function that asks the mirror one question: its parameters stand for the `?`, or are one object with their names. */
type Question<Params extends readonly unknown[], Answer> = (db: Mirror, ...params: Params) => Answer

/** Makes a question for rows, each an object with the columns of the answer. */
export const listing =
  <Params extends readonly unknown[], Row>(sql: string): Question<Params, Row[]> =>
  (db, ...params) =>
    prepared<Row>(db, sql).all(...params)

/** Makes a question for the values of the only column. */
export const listingValues =
  <Params extends readonly unknown[], Value>(sql: string): Question<Params, Value[]> =>
  (db, ...params) =>
    prepared<Value>(db, sql)
      .pluck()
      .all(...params)

/** Makes a question for one row; undefined if there is none. */
export const finding =
  <Params extends readonly unknown[], Row>(sql: string): Question<Params, Row | undefined> =>
  (db, ...params) =>
    prepared<Row>(db, sql).get(...params)

/** Makes a question for one value; null if there is no row. */
export const findingValue =
  <Params extends readonly unknown[], Value>(sql: string): Question<Params, Value | null> =>
  (db, ...params) =>
    prepared<Value>(db, sql)
      .pluck()
      .get(...params) ?? null

/** Makes a question for one number; 0 if there is no row. */
export const counting =
  <Params extends readonly unknown[] = []>(sql: string): Question<Params, number> =>
  (db, ...params) =>
    prepared<number>(db, sql)
      .pluck()
      .get(...params) ?? 0

/** Makes a question whether there is any row. */
export const asking =
  <Params extends readonly unknown[] = []>(sql: string): Question<Params, boolean> =>
  (db, ...params) =>
    prepared(db, sql).get(...params) !== undefined

/** Makes a function that writes something. It returns how many rows it changed. */
export const writing =
  <Params extends readonly unknown[] = []>(sql: string): Question<Params, number> =>
  (db, ...params) =>
    prepared(db, sql).run(...params).changes

/** Rows of one statement. */
const SIZES = [32, 16, 8, 4, 2, 1]

/**
 * Makes a function that inserts rows, given by their parameters, many with each statement. If a table has a trigger,
 * SQLite copies each page before a statement changes it, so that it can take back this statement alone. One statement for
 * each row takes two to three times as long.
 * @param into the table and its columns
 * @param row the values of a row, such as `(?, ?, 1)`
 * @param onConflict the clause for rows that exist already
 */
export function inserting(
  into: string,
  row: string,
  onConflict = '',
): Question<[readonly (readonly unknown[])[]], void> {
  const bySize = SIZES.map(
    (size) => [size, `insert into ${into} values ${Array(size).fill(row).join(', ')} ${onConflict}`] as const,
  )
  return (db, rows) => {
    let at = 0
    for (const [size, sql] of bySize) {
      for (; at + size <= rows.length; at += size) prepared(db, sql).run(...rows.slice(at, at + size).flat())
    }
  }
}
