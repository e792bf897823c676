import { crc32 } from 'node:zlib'
import Database from 'better-sqlite3'
import { differing, wrongSums } from '../helpers/wrong-sums.ts'
import type { Mirror } from '../../src/mirror/open.ts'

interface StoreRow {
  readonly key: string
  readonly rowid: number
  readonly value: Buffer | null
}

/** The differences between store and mirror, one line per row; empty if they are equal. */
export function differences(storePath: string, mirror: Mirror): string[] {
  const store = new Database(storePath, { readonly: true })
  try {
    const rows = hasTable(store) ? listRows(store) : []
    return [
      ...compareRows(rows, mirror),
      ...compareMessages(rows, mirror),
      ...compareWords(rows, mirror),
      ...wrongSums(mirror),
    ]
  } finally {
    store.close()
  }
}

const hasTable = (db: Database.Database): boolean =>
  db.prepare(`select 1 from sqlite_master where name = 'cursorDiskKV'`).get() !== undefined

const listRows = (db: Database.Database): StoreRow[] =>
  db
    .prepare<[], StoreRow>(
      `select key, rowid, cast(value as blob) as value from cursorDiskKV
       where key like 'bubbleId:%' or key like 'composerData:%'`,
    )
    .all()

function compareRows(rows: readonly StoreRow[], mirror: Mirror): string[] {
  const told = (key: string, rowid: number, octets: number, checksum: number | null): string =>
    `${key} at ${rowid}: ${octets} bytes, ${checksum}`
  const there = rows.map(({ key, rowid, value }) =>
    told(key, rowid, value?.length ?? 0, value === null ? null : crc32(value)),
  )
  const held = mirror
    .prepare<[], { key: string; rowid: number; octets: number; checksum: number | null }>(
      'select key, source_rowid as rowid, octets, checksum from source_rows where is_live = 1',
    )
    .all()
  return differing(
    there,
    held.map(({ key, rowid, octets, checksum }) => told(key, rowid, octets, checksum)),
  )
}

const textOf = (value: Buffer): string => (JSON.parse(value.toString('utf8')) as { text: string }).text

function compareMessages(rows: readonly StoreRow[], mirror: Mirror): string[] {
  const there = rows.flatMap(({ key, value }) => {
    const [family, chat, id] = key.split(':')
    return family === 'bubbleId' && value !== null ? [`${chat}:${id} says ${textOf(value)}`] : []
  })
  const held = mirror
    .prepare<[], { chat: string; id: string; parts: string }>(
      `select chats.id as chat, messages.id as id, parts from messages
       join chats on chats.num = chat join bodies on bodies.num = body where messages.is_live = 1`,
    )
    .all()
  const heldTexts = held.map(
    ({ chat, id, parts }) => `${chat}:${id} says ${(JSON.parse(parts) as { text: string }[])[0]?.text}`,
  )
  return differing(there, heldTexts)
}

/** Every word in the store must be found. */
function compareWords(rows: readonly StoreRow[], mirror: Mirror): string[] {
  const count = mirror.prepare<[string], { n: number }>(
    'select count(*) as n from message_terms where message_terms match ?',
  )
  return rows.flatMap(({ key, value }) => {
    if (value === null || !key.startsWith('bubbleId:')) return []
    const word = textOf(value).split(' ').at(-1) ?? ''
    return (count.get(`"${word}"`)?.n ?? 0) > 0 ? [] : [`${key}: ${word} is not found`]
  })
}
