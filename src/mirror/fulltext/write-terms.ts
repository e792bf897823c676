import { columnNames, markTerms, searchColumns } from '../../text/terms/columns.ts'
import { indexTermBytes } from '../../text/terms/terms.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { writeDictionary } from '../write/write-dictionary.ts'
import { parseParts } from '../parse-parts.ts'

/** The terms of one message as UTF-8: one buffer for each column of `columnNames`, then one for its marks. */
export type MessageTerms = readonly Buffer[]

const NO_TERMS = Buffer.alloc(0)

/** @param partsJson a message's parts as stored */
export function cutParts(partsJson: string): MessageTerms {
  const parts = parseParts(partsJson)
  const { columns } = searchColumns(parts)
  const cut = columnNames.map((name) => (columns[name] === '' ? NO_TERMS : indexTermBytes(columns[name])))
  return [...cut, Buffer.from(markTerms(parts))]
}

const ADD_TERMS = `insert into message_terms (rowid, ${columnNames.join(', ')}, marks) values (?, ?, ?, ?, ?, ?, ?)`
const DROP_TERMS = `delete from message_terms where rowid = ?`

/** Indexes a message. FTS5 accepts only integer rowids, and a JavaScript number is bound as a real: hence BigInt. */
export function addTerms(db: Mirror, key: number, terms: MessageTerms): void {
  prepared(db, ADD_TERMS).run(BigInt(key), ...terms)
}

/** Indexes a message and adds its terms to the list of terms. */
export function writeTerms(db: Mirror, key: number, terms: MessageTerms): void {
  addTerms(db, key, terms)
  writeDictionary(db, terms)
}

export function dropTerms(db: Mirror, key: number): void {
  prepared(db, DROP_TERMS).run(BigInt(key))
}
