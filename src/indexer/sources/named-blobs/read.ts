import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { hexBytes } from '../records/wire.ts'
import { readPortion, type Portion, tryRead } from '../../open-safely/cursor-file.ts'

/**
 * Whether the store has the table.
 * @throws UnknownLayout if it is in an unknown form
 */
export const hasTable = (db: Database.Database): boolean => hasKnownTable(db, 'cursorDiskKV', ['key', 'value'], 'key')

/** `value` is null for NULL, and only the beginning of a longer value. */
export interface NamedValue {
  readonly key: string
  /** Bytes of the whole value. */
  readonly octets: number
  readonly value: Buffer | null
}

const READ_VALUE = `
select key, octet_length(value) as octets, substr(cast(value as blob), 1, ?) as value from cursorDiskKV where key = ?
`

/** The values of the first of these keys, in one short transaction. */
export function readPage(
  db: Database.Database,
  keys: readonly string[],
  octetsMax: number,
  readMsMax: number,
): Portion & { readonly values: readonly NamedValue[] } {
  const values: NamedValue[] = []
  const portion = readPortion(db, keys, readMsMax, (key) => {
    const row = tryRead(() => prepared<NamedValue>(db, READ_VALUE).get(octetsMax, key))?.value
    if (row !== undefined) values.push({ ...row, octets: row.octets ?? 0 })
    return row?.value?.length ?? 0
  })
  return { values, ...portion }
}

/** Larger values are not read. */
export const VALUE_OCTETS_MAX = 32 * 1024 * 1024

/** What was sent to the model, by its SHA-256. The key does not name the chat. */
export const BLOB_PREFIX = 'agentKv:blob:'

export const blobKey = (hash: string): string => `${BLOB_PREFIX}${hash}`

/** Older builds wrote blobs as hex, and an empty blob as a zero byte. */
export function decodeBlob(value: Buffer): Buffer {
  if (value.length === 1 && value[0] === 0) return Buffer.alloc(0)
  return hexBytes(value.toString('latin1')) ?? value
}
