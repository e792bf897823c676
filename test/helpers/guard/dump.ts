import { attachIndex } from '../index-of.ts'
import { wrongSums } from '../wrong-sums.ts'
import type { Mirror } from '../../../src/mirror/open.ts'

const MESSAGES = `
select chats.id || ' ' || messages.id || ' ' || sources.id as name, messages.*, bodies.parts as parts
from messages join chats on chats.num = messages.chat join sources on sources.num = messages.source
join bodies on bodies.num = messages.body order by name
`
const CHATS = `
select chats.id as name, chats.*, sources.id as sourceId, projects.uri as projectUri
from chats join sources on sources.num = chats.source left join projects on projects.num = chats.project order by name
`
const ROWS = `
select sources.id || ' ' || key as name, source_rows.* from source_rows join sources on sources.num = source order by name
`
const SOURCES = `select id as name, identity, watermark, watermark_key from sources order by id`
const INDEXED = `
select chats.id || ' ' || messages.id as name, hex(sz) as sz from messages join chats on chats.num = messages.chat
join message_terms_docsize on message_terms_docsize.id = messages.key order by name
`
const TITLES = `
select chats.id as name, hex(sz) as sz from chats join chat_terms_docsize on chat_terms_docsize.id = chats.num order by name
`
const HEADS = `select chat_id || ' ' || list as name, chat_metadata.* from chat_metadata order by name`

/** Row numbers and the progress of estimates may differ between mirrors. */
const OWN_NUMBERS = new Set([
  'key',
  'chat',
  'source',
  'body',
  'num',
  'project',
  'revision',
  'estimated_input',
  'estimated_output',
])

type Row = Readonly<Record<string, unknown>>

/** The content of a mirror under names that survive a rebuild, so it is equal for two mirrors with the same content. */
export function dumpMirror(db: Mirror): Readonly<Record<string, readonly Row[]>> {
  attachIndex(db)
  const list = (sql: string): Row[] =>
    (db.prepare(sql).all() as Row[]).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !OWN_NUMBERS.has(name))),
    )
  return {
    messages: list(MESSAGES),
    chats: list(CHATS),
    rows: list(ROWS),
    sources: list(SOURCES),
    indexed: list(INDEXED),
    titles: list(TITLES),
    heads: list(HEADS),
  }
}

/** Problems that a mirror reports about itself; empty if it is sound. */
export function findFaults(db: Mirror): string[] {
  attachIndex(db)
  const integrity = db.pragma('integrity_check', { simple: true })
  const faults = integrity === 'ok' ? [] : [`integrity: ${String(integrity)}`]
  if ((db.pragma('foreign_key_check') as unknown[]).length > 0) faults.push('a row names another that is not there')
  for (const table of ['message_terms', 'chat_terms']) {
    try {
      db.exec(`insert into ${table} (${table}) values ('integrity-check')`)
    } catch (error) {
      faults.push(`${table}: ${String(error)}`)
    }
  }
  for (const [fault, sql] of FAULTS) {
    if (Number(db.prepare(sql).pluck().get()) > 0) faults.push(fault)
  }
  return [...faults, ...wrongSums(db)]
}

/** Checks that positions match the rows: everything counted as read is stored, and everything stored is indexed or in the backlog. */
const FAULTS: readonly (readonly [fault: string, sql: string])[] = [
  [
    'a source says it is read beyond the rows that are held',
    `select count(*) from sources where kind = 'composer-kv' and watermark >
       (select coalesce(max(source_rowid), 0) from source_rows where source = sources.num and is_live = 1)`,
  ],
  [
    'a row counts as read whose message is not held',
    `select count(*) from source_rows join sources on sources.num = source and kind = 'composer-kv'
     where key glob 'bubbleId:*' and is_live = 1 and source_rowid > 0 and not exists (
       select 1 from messages join chats on chats.num = chat
       where source_rows.key = 'bubbleId:' || chats.id || ':' || messages.id
     )`,
  ],
  [
    'a message is neither found nor waits',
    `select count(*) from messages where is_shadowed = 0
     and key not in (select id from message_terms_docsize) and key not in (select key from pending) and key not in (select key from index_changes where num > (select num from position))`,
  ],
  ['a message has no words', `select count(*) from messages where body not in (select num from bodies)`],
]
