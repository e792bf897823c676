import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/prepared.ts'
import { readPortion, tryRead } from '../../open-safely/read-portion.ts'

/** Only these rows of the table of facts are read, because it also contains a key. */
const factNames = ['0', 'agentId', 'latestRootBlobId', 'name', 'mode', 'createdAt', 'lastUsedModel'] as const

const LIST_TABLES = `
select name from sqlite_master where type = 'table' and name in ('blobs', 'meta')
`
const READ_FACT = `
select cast(value as blob) from meta where key = ? and octet_length(value) <= 1048576
`
const FIND_KEY = `select 1 from meta where key = 'blobEncryptionKey' and value <> ''`

export interface RawFacts {
  readonly values: ReadonlyMap<string, Buffer>
  readonly hasKey: boolean
}

/** Null if the store does not have the expected tables. */
export function readFacts(db: Database.Database): RawFacts | null {
  if (prepared<string>(db, LIST_TABLES).pluck().all().length < 2) return null
  const values = new Map<string, Buffer>()
  for (const name of factNames) {
    const value = prepared<Buffer>(db, READ_FACT).pluck().get(name)
    if (value !== undefined) values.set(name, value)
  }
  return { values, hasKey: prepared(db, FIND_KEY).get() !== undefined }
}

const READ_BLOB = `
select octet_length(data) as octets, case when octet_length(data) <= 33554432 then cast(data as blob) end as data
from blobs where id = ?
`

/** The value of an id. */
type RawBlob =
  | { readonly kind: 'blob'; readonly data: Buffer }
  | { readonly kind: 'missing' | 'too-large' | 'unreadable' }

/** The first of these blobs, as many as one short transaction reads, and at least one. */
export function readBlobs(db: Database.Database, ids: readonly string[], msMax: number): ReadonlyMap<string, RawBlob> {
  const found = new Map<string, RawBlob>()
  readPortion(db, ids, msMax, (id) => {
    const blob = readBlob(db, id)
    found.set(id, blob)
    return blob.kind === 'blob' ? blob.data.length : 0
  })
  return found
}

function readBlob(db: Database.Database, id: string): RawBlob {
  const read = tryRead(() => prepared<{ octets: number | null; data: Buffer | null }>(db, READ_BLOB).get(id))
  if (read === null) return { kind: 'unreadable' }
  const { octets, data } = read.value ?? { octets: null, data: null }
  if (data !== null) return { kind: 'blob', data }
  return { kind: octets === null ? 'missing' : 'too-large' }
}

const HAS_BLOB = `select 1 from blobs limit 1`

/** A store without blobs is a chat without messages. */
export const hasBlobs = (db: Database.Database): boolean => prepared(db, HAS_BLOB).get() !== undefined

const LIST_FOREIGN = `
select name from sqlite_master
where type in ('table', 'view') and name not in ('blobs', 'meta') and name not like 'sqlite%'
`

/** Unknown tables. */
export const listForeign = (db: Database.Database): readonly string[] =>
  prepared<string>(db, LIST_FOREIGN).pluck().all()
