import { join } from 'node:path'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader, openWriter, type Mirror } from '../src/mirror/open.ts'
import { addTerms, cutParts, type MessageTerms } from '../src/mirror/fulltext/write-terms.ts'
import { bringIntoMemory, costOf, readAndParse } from './read-and-parse.ts'
import { lineBesideFloor, table } from './statistics.ts'
import { eachText, MESSAGES_MAX } from './term-cost.ts'
import type { Workshop } from './workshop.ts'

interface Round {
  readonly floor: number
  readonly rows: number
  readonly terms: number
}

/**
 * The minimum of a first ingest: only writing, without our own work. SQLite copies the finished rows of the mirror, and
 * writes the full-text rows of finished terms. Both use the only connection that may write, so that no second core helps.
 * No program with the same mirror and index can be faster.
 */
export async function leastWork(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  const path = mirrorPath(daemon.dataDir)
  await shop.tidy()
  const store = shop.store().path
  const cut = cutAll(path)
  const rounds: Round[] = Array.from({ length: shop.runs }, () => {
    bringIntoMemory(store)
    return { floor: readAndParse(store).wallMs, rows: copyRows(path, shop), terms: writeAll(cut, shop) }
  })
  const floors = rounds.map(({ floor }) => floor)
  const line = (what: string, pick: (round: Round) => number): string[] =>
    lineBesideFloor(what, rounds.map(pick), floors)
  shop.say(
    table(
      ['the least that a first ingest does', 'median ms', 'x floor', 'runs'],
      [
        line('floor: read and JSON.parse', ({ floor }) => floor),
        line('rows of the mirror, ready-made', ({ rows }) => rows),
        line('full-text rows of terms that are cut', ({ terms }) => terms),
        line('floor and rows, one after the other', ({ floor, rows }) => floor + rows),
        line('all that the one writer writes', ({ rows, terms }) => rows + terms),
      ],
    ),
  )
}

function cutAll(path: string): { readonly key: number; readonly terms: MessageTerms }[] {
  const mirror = openReader(path)
  const cut = Array.from(eachText(mirror), ({ key, parts }) => ({ key, terms: cutParts(parts) }))
  mirror.close()
  return cut
}

/** All tables, except those of the full-text index and the one that has a row in an empty mirror. */
const TABLES = `
select name from whole.sqlite_schema
where type = 'table' and name not glob 'sqlite_*' and name not glob '*_terms*' and name <> 'identity'
`

/** SQLite copies rows between tables with the same definition without decoding them. @returns milliseconds */
function copyRows(path: string, shop: Workshop): number {
  return intoEmpty(shop, (copy) => {
    copy.pragma('foreign_keys = off')
    copy.exec(`attach '${path.replaceAll("'", "''")}' as whole`)
    const names = copy.prepare<[], string>(TABLES).pluck().all()
    return costOf(() => {
      for (const name of names) copy.exec(`insert into main.${name} select * from whole.${name}`)
    }).wallMs
  })
}

/** @returns milliseconds */
function writeAll(cut: readonly { readonly key: number; readonly terms: MessageTerms }[], shop: Workshop): number {
  return intoEmpty(shop, (mirror) => {
    const write = mirror.transaction((from: number) => {
      for (const { key, terms } of cut.slice(from, from + MESSAGES_MAX)) addTerms(mirror, key, terms)
    })
    return costOf(() => {
      for (let from = 0; from < cut.length; from += MESSAGES_MAX) write(from)
    }).wallMs
  })
}

/** With the settings of a first ingest. */
function intoEmpty(shop: Workshop, write: (mirror: Mirror) => number): number {
  const mirror = openWriter(join(shop.folder(), 'mirror.db'))
  try {
    mirror.pragma('synchronous = normal')
    mirror.pragma('wal_autocheckpoint = 4000')
    return write(mirror)
  } finally {
    mirror.close()
  }
}
