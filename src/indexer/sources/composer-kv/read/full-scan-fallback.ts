import { endedBy, type OpenFile } from '../../../open-safely/cursor-file.ts'
import type { PassEnd, PassStep } from '../../../source.ts'
import { byTable } from './read-by-table.ts'

/** The keys of a large store take a second to list: not each time that Cursor writes to it. */
const LIST_EVERY_MS = 60_000
const IN_A_MINUTE = { depth: 'reconcile', inMs: LIST_EVERY_MS } as const
const DAMAGED = 'The index of its table is damaged, and Cursor may lose chats by it: keep a copy of the file.'
/** What is told of a store that could be read all the same. */
export const READ_BY_TABLE = `${DAMAGED} They were read by the table alone.`
const WAITS = `${DAMAGED} What came since they were read by the table alone is read within a minute.`

/** Whether a store was last told as one whose index is damaged. Only a walk over all keys tells that it is not. */
export const isToldDamaged = (detail: string | null): boolean => detail === READ_BY_TABLE || detail === WAITS

/** Of one store. */
export interface Listing {
  /** When its keys were listed by the table; epoch milliseconds. */
  atMs: number
}

/**
 * Passes over a store that is damaged where keys are looked up. It is told as corrupt, for so it is, whatever could be
 * read of it.
 */
export function* passByTable(
  file: OpenFile,
  listing: Listing,
  nowMs: number,
  passOver: (file: OpenFile) => Generator<PassStep, PassEnd>,
): Generator<PassStep, PassEnd> {
  if (nowMs - listing.atMs < LIST_EVERY_MS) return { state: 'corrupt', detail: WAITS, again: [IN_A_MINUTE] }
  try {
    const listed = byTable(file)
    try {
      const { again } = yield* passOver(listed)
      listing.atMs = nowMs
      return { state: 'corrupt', detail: READ_BY_TABLE, again }
    } finally {
      listed.close()
    }
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, again: [] }
  }
}
