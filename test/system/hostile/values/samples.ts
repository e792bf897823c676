import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { CursorHome } from '../../../helpers/cursor.ts'
import { writeDemoHome } from '../../../demo/write-home.ts'
import { readJson } from '../../../helpers/cases.ts'
import { globalEras } from '../../../helpers/eras/global-items.ts'
import { transcriptEras } from '../../../helpers/eras/transcripts.ts'
import { workspaceEras } from '../../../helpers/eras/workspace-items.ts'
import { writeShapes } from '../../../helpers/shapes/write-shapes.ts'
import { World } from '../../../helpers/world.ts'
import { noteAskedNames } from './asked-names.ts'
import { placesOf, type AskedNames, type Path } from './graft.ts'

/** A row as Cursor writes it, and every place in it that can be replaced. */
export interface Sample {
  /** The row's whole key if it is an item, otherwise empty. */
  readonly key: string
  readonly value: unknown
  readonly places: readonly Path[]
}

export type SampleList = readonly [Sample, ...Sample[]]

export interface Samples {
  readonly messages: SampleList
  readonly chats: SampleList
  readonly globalItems: SampleList
  readonly heads: SampleList
  readonly workspaceItems: SampleList
  /** Lines of transcripts. */
  readonly lines: SampleList
  readonly transcriptTexts: readonly string[]
  /** The model's input. */
  readonly modelMessages: SampleList
}

const VALUE_LENGTH_MAX = 20_000

interface Row {
  readonly key: string
  readonly value: unknown
}

/** Rows of every version and shape in the fixtures and the demo, read back from their stores. */
export async function takeSamples(): Promise<Samples> {
  const home = new CursorHome()
  const demo = writeDemoHome(join(home.root, 'demo'), Date.UTC(2026, 5, 1))
  const cursor = join(home.root, '.cursor')
  const store = home.global()
  writeShapes(store)
  for (const era of globalEras) era.write(store.db)
  for (const era of workspaceEras) era.write(home.userDir)
  for (const era of transcriptEras) era.write(cursor)
  const world = await World.open({ home, flags: { cursorUserDir: [home.userDir, demo.userDir] } })
  try {
    return gather(home, demo, cursor, await noteAskedNames(() => world.sync()))
  } finally {
    await world.remove()
  }
}

function gather(home: CursorHome, demo: CursorHome, cursor: string, asked: AskedNames): Samples {
  const rows = [home, demo].flatMap(({ globalPath }) => rowsIn(globalPath, 'cursorDiskKV'))
  const workspaces = readdirSync(join(home.userDir, 'workspaceStorage'))
  const transcripts = filesBelow(cursor).filter((path) => /\.(jsonl?|txt)$/.test(path))
  const texts = transcripts.map((path) => readFileSync(path, 'utf8'))
  const sample = (found: readonly Row[]): SampleList => {
    const [first, ...rest] = distinct(found).map(({ key, value }) => ({ key, value, places: placesOf(value, asked) }))
    if (first === undefined) throw new Error('there is no sample of a kind')
    return [first, ...rest]
  }
  const anonymous = (values: readonly unknown[]): Row[] => values.map((value) => ({ key: '', value }))
  return {
    messages: sample(rows.filter(({ key }) => key.startsWith('bubbleId:'))),
    chats: sample(rows.filter(({ key }) => key.startsWith('composerData:'))),
    globalItems: sample(
      rowsIn(home.globalPath, 'ItemTable').filter(({ key }) => /^(composer\.|glass\.local|workbench\.)/.test(key)),
    ),
    heads: sample(headsIn(home.globalPath)),
    workspaceItems: sample(
      workspaces.flatMap((id) => rowsIn(join(home.userDir, 'workspaceStorage', id, 'state.vscdb'), 'ItemTable')),
    ),
    lines: sample(anonymous(texts.flatMap((text) => text.split('\n').flatMap((line) => objectOf(line) ?? [])))),
    transcriptTexts: texts,
    modelMessages: sample(anonymous(readJson(import.meta.url, 'model-messages.json') as readonly unknown[])),
  }
}

/** Keeps one of the rows that have the same fields. */
function distinct(rows: readonly Row[]): Row[] {
  const known = new Set<string>()
  return rows.filter(({ key, value }) => {
    const family = /^[a-zA-Z]+:/.test(key) ? '' : key
    const shape = `${family} ${placesOf(value, new Map())
      .map((path) => path.map(String).join('.'))
      .join()}`
    return typeof value === 'object' && !known.has(shape) && known.add(shape)
  })
}

function rowsIn(path: string, table: 'cursorDiskKV' | 'ItemTable'): Row[] {
  const sql = `select key, cast(value as text) as value from ${table} where key is not null and value is not null
    and length(value) < ${VALUE_LENGTH_MAX}`
  const rows = read<{ key: string; value: string }>(path, sql)
  return rows.flatMap(({ key, value }) => {
    const parsed = objectOf(value)
    return parsed === null ? [] : [{ key, value: parsed }]
  })
}

const headsIn = (path: string): Row[] =>
  read<{ composerId: string; value: string }>(path, 'select composerId, value from composerHeaders').flatMap((row) => {
    const parsed = objectOf(row.value)
    return parsed === null ? [] : [{ key: '', value: parsed }]
  })

function read<Found>(path: string, sql: string): Found[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare<[], Found>(sql).all()
  } finally {
    db.close()
  }
}

function objectOf(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
