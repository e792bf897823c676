import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

/** Rows of one statement. */
const SIZES = [32, 16, 8, 4, 2, 1]

/**
 * Inserts rows, many with each statement. If a table has a trigger, SQLite copies each page before a statement changes
 * it, so that it can take back this statement alone. One statement for each row takes two to three times as long.
 */
export class RowInsert {
  readonly #statements: readonly (readonly [size: number, sql: string])[]

  /**
   * @param into the table and its columns
   * @param row the values of a row, such as `(?, ?, 1)`
   * @param onConflict the clause for rows that exist already
   */
  constructor(into: string, row: string, onConflict = '') {
    this.#statements = SIZES.map((size) => [
      size,
      `insert into ${into} values ${Array(size).fill(row).join(', ')} ${onConflict}`,
    ])
  }

  /** @param rows the parameters of each row */
  run(db: Mirror, rows: readonly (readonly unknown[])[]): void {
    let at = 0
    for (const [size, sql] of this.#statements) {
      for (; at + size <= rows.length; at += size) prepared(db, sql).run(...rows.slice(at, at + size).flat())
    }
  }
}
