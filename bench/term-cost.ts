import { join } from 'node:path'
import Database from '../src/sqlite.ts'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { indexBacklog } from '../src/mirror/fulltext/backlog.ts'
import { openReader, openWriter, type Mirror } from '../src/mirror/open.ts'
import type { Part } from '../src/model/part.ts'
import { columnNames, searchColumns } from '../src/text/terms/columns.ts'
import { costOf, type Cost } from './read-and-parse.ts'
import { lineBesideFloor, megabytes, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** The limits of the backlog: messages and characters in one transaction. */
export const MESSAGES_MAX = 4000
const LENGTH_MAX = 8 * 1024 * 1024

interface Round {
  readonly indexing: number
  readonly plain: number
}

/**
 * CPU time of the backlog of a first ingest, from bodies to full-text rows and the list of terms. Compared with the same
 * texts in a plain table with the same settings: `unicode61`, without parts of identifiers, pairs, marks and list.
 */
export async function termCost(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  const path = mirrorPath(daemon.dataDir)
  await shop.tidy()
  const rounds = Array.from({ length: shop.runs }, () => ({
    indexing: indexAgain(path, shop),
    plain: indexPlain(path, shop).cpuMs,
  }))
  const floors = rounds.map(({ plain }) => plain)
  const line = (what: string, pick: (round: Round) => number): string[] =>
    lineBesideFloor(what, rounds.map(pick), floors)
  shop.say(
    table(
      [`CPU of indexing, ${megabytes(measureText(path))} MB of text`, 'median ms', 'x floor', 'runs'],
      [line('floor: the same table, no expansion', ({ plain }) => plain), line('indexing', ({ indexing }) => indexing)],
    ),
  )
}

/** The texts that are indexed, oldest first. */
export const eachText = (mirror: Mirror): IterableIterator<{ key: number; parts: string }> =>
  mirror
    .prepare<[], { key: number; parts: string }>(
      'select key, parts from messages cross join bodies on bodies.num = body where is_shadowed = 0 order by key',
    )
    .iterate()

function measureText(path: string): number {
  const mirror = openReader(path)
  let bytes = 0
  for (const { parts } of eachText(mirror)) {
    for (const text of textsOf(parts)) bytes += Buffer.byteLength(text)
  }
  mirror.close()
  return bytes
}

function textsOf(parts: string): string[] {
  const { columns } = searchColumns(JSON.parse(parts) as Part[])
  return columnNames.map((name) => columns[name])
}

/** Copies the messages into a mirror without any index. */
function indexAgain(path: string, shop: Workshop): number {
  const copy = openWriter(join(shop.folder(), 'mirror.db'))
  try {
    copy.pragma('synchronous = normal')
    copy.pragma('foreign_keys = off')
    copy.exec(`attach '${path.replaceAll("'", "''")}' as whole`)
    for (const name of ['messages', 'bodies']) copy.exec(`insert into main.${name} select * from whole.${name}`)
    copy.exec('insert into unindexed select key from messages where is_shadowed = 0')
    copy.exec('detach whole')
    return costOf(() => {
      while (indexBacklog(copy) > 0);
    }).cpuMs
  } finally {
    copy.close()
  }
}

/** Inserts the texts of a mirror into a plain full-text table. */
export function indexPlain(path: string, shop: Workshop): Cost {
  const mirror = openReader(path)
  const db = new Database(join(shop.folder(), 'plain.db'))
  try {
    db.pragma('page_size = 16384')
    db.pragma('journal_mode = wal')
    db.pragma('synchronous = normal')
    db.pragma('cache_size = -16000')
    db.exec(`create virtual table plain using fts5 (${columnNames.join(', ')}, content = '', contentless_delete = 1)`)
    const settings = { pgsz: 16_000, hashsize: 33_554_432, automerge: 16 }
    for (const [name, value] of Object.entries(settings)) {
      db.exec(`insert into plain (plain, rank) values ('${name}', ${value})`)
    }
    return costOf(() => insertAll(db, mirror))
  } finally {
    db.close()
    mirror.close()
  }
}

/** Both include parsing and selecting the texts. */
function insertAll(db: Mirror, mirror: Mirror): void {
  const insert = db.prepare(`insert into plain (rowid, ${columnNames.join(', ')}) values (?, ?, ?, ?, ?, ?)`)
  let count = 0
  let length = 0
  db.exec('begin')
  for (const { key, parts } of eachText(mirror)) {
    insert.run(BigInt(key), ...textsOf(parts))
    count += 1
    length += parts.length
    if (count < MESSAGES_MAX && length < LENGTH_MAX) continue
    db.exec('commit; begin')
    count = 0
    length = 0
  }
  db.exec('commit')
}
