import type { Part } from '../model/part.ts'
import { columnNames, searchColumns } from '../text/columns.ts'
import { indexTermBytes } from '../text/terms.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

/** The terms of one message, as UTF-8, for each column of `columnNames`. */
export type MessageTerms = readonly Buffer[]

const NO_TERMS = Buffer.alloc(0)

/** @param partsJson a message's parts as they are kept */
export function cutParts(partsJson: string): MessageTerms {
  const { columns } = searchColumns(JSON.parse(partsJson) as Part[])
  return columnNames.map((name) => (columns[name] === '' ? NO_TERMS : indexTermBytes(columns[name])))
}

const ADD_TERMS = `insert into message_terms (rowid, ${columnNames.join(', ')}) values (?, ?, ?, ?, ?, ?)`
const DROP_TERMS = `delete from message_terms where rowid = ?`

/** FTS5 takes a rowid only as an integer, and a JavaScript number is bound as a real: hence BigInt. */
export function writeTerms(db: Mirror, key: number, terms: MessageTerms): void {
  prepared(db, ADD_TERMS).run(BigInt(key), ...terms)
}

export function dropTerms(db: Mirror, key: number): void {
  prepared(db, DROP_TERMS).run(BigInt(key))
}
