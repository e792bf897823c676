import { hash } from 'node:crypto'

/** The hash of rows in SQL: of one text with a line for each row, in the order of the bytes of their chats' ids. */
export const hashSql = (columns: string): string =>
  `encode(sha256(convert_to(coalesce(string_agg(concat_ws(chr(9), ${columns}), chr(10) order by chat collate "C"), ''), 'UTF8')), 'hex')`

/** The same. @param rows each with the id of its chat first */
export function hashOf(rows: Iterable<readonly (string | number)[]>): string {
  const lines = Array.from(rows, (row) => ({ id: Buffer.from(String(row[0])), text: row.join('\t') }))
  lines.sort((one, other) => Buffer.compare(one.id, other.id))
  return hash('sha256', lines.map(({ text }) => text).join('\n'))
}
