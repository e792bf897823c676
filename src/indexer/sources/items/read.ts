import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { tabKeys } from '../records/chat.ts'
import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import * as files from '../../open-safely/cursor-file.ts'
import type { OpenFile } from '../../open-safely/cursor-file.ts'
import { type WholeContent, writeWhole } from '../../open-safely/whole-store.ts'
import { findRoot } from '../../projects/root-uri.ts'
import { closedFolder, ofDatabase, read, skipped, whileOpen, type Source } from '../../source.ts'
import { readRegular } from '../../../regular-file.ts'
import {
  decodeHeadTable,
  decodeItems,
  decodeWorkspaceRoot,
  headColumns,
  itemKeys as keys,
  type HeadRow,
  type RawItem,
  type RootOf,
  type Workspace,
} from './decode.ts'

const WORKSPACE = 'workspace-items'
const DECODER = 5
/** The global store's version of a chat is newer: these copies are from before the chat was moved there. */
const RANK = 2
/** The global store changes with every message, and these items rarely do. */
const LOOK_EVERY_MS = 15_000

/**
 * What the global store of one Cursor user folder contains besides the rows of chats.
 * @param userDir Cursor's `User` folder
 */
export function globalItemsSource(userDir: string): Source {
  const path = join(userDir, 'globalStorage', 'state.vscdb')
  return {
    ...ofDatabase({ kind: 'global-items', decoder: DECODER, path, rank: RANK, isAlwaysWarm: true }),
    everyMs: LOOK_EVERY_MS,
    async pass(mirror, num, request) {
      return (
        skipped(mirror, num, request, files.fileSignature(path), LOOK_EVERY_MS) ??
        whileOpen(path, async (file) => {
          await writeWhole(mirror, num, { ...readItems(file, path, null), signature: file.signature }, request)
          return read
        })
      )
    },
  }
}

/**
 * Every workspace of one Cursor user folder. A folder without a store is none: there may be thousands of them.
 * @param userDir Cursor's `User` folder
 */
export function workspaceItemsSources(userDir: string): Source[] {
  const root = workspacesFolder(userDir)
  return storesIn(root)?.filter(files.mayExist).map(workspaceSource) ?? [closedFolder(WORKSPACE, root, RANK)]
}

/** The stores of workspaces that have none. */
export const absentWorkspaceStores = (userDir: string): string[] =>
  (storesIn(workspacesFolder(userDir)) ?? []).filter((path) => !files.mayExist(path))

/** The folder in which Cursor creates one for each workspace. */
export const workspacesFolder = (userDir: string): string => join(userDir, 'workspaceStorage')

/**
 * Where the entries of the folder have a store, if they are workspaces. One that was moved to another disk is a link. Null
 * if the folder may not be listed. Nothing but strings is made, because there may be a hundred thousand.
 */
const storesIn = (root: string): string[] | null =>
  files.orIfUnreadable<string[] | null>(
    () =>
      readdirSync(root)
        .sort()
        .map((name) => `${root}${sep}${name}${sep}state.vscdb`),
    // No workspace has been opened yet.
    (code) => (files.isAbsence(code) ? [] : null),
  )

function workspaceSource(path: string): Source {
  const folder = dirname(path)
  const id = basename(folder)
  const json = join(folder, 'workspace.json')
  const signature = (): string | null => {
    const [store, stat] = [files.fileSignature(path), statSync(json, { bigint: true, throwIfNoEntry: false })]
    const ofJson = stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`
    return store === null && stat === undefined ? null : `${store ?? '-'} ${ofJson}`
  }
  return {
    ...ofDatabase({ kind: WORKSPACE, decoder: DECODER, path, rank: RANK, isAlwaysWarm: false }),
    files: [...files.filesOf(path), json],
    signature,
    async pass(mirror, num, request) {
      const now = signature()
      return (
        skipped(mirror, num, request, now) ??
        whileOpen(path, async (file) => {
          const rootUri = readWorkspaceRoot(folder)
          const root = rootUri === null ? null : findRoot(rootUri)
          const workspaces = root === null ? [] : [{ id, root }]
          const content = readItems(file, path, { id, rootUri })
          await writeWhole(mirror, num, { ...content, workspaces, signature: now }, request)
          return read
        })
      )
    },
  }
}

/**
 * One item per transaction, as tabs can be large, and one page of the table of heads. A store that could not be copied is
 * open only meanwhile.
 * @param workspace null for the global store
 */
function readItems(file: OpenFile, path: string, workspace: Workspace | null): WholeContent {
  const layout = file.read((db) => findLayout(db, workspace === null))
  const items = layout.items.flatMap((key) => file.read((db) => readItem(db, key)) ?? [])
  const heads: HeadRow[] = []
  const { heads: query } = layout
  // Changes between two pages show at the next look.
  const nextHeads = (): readonly HeadRow[] =>
    query === null ? [] : file.read((db) => prepared<HeadRow>(db, query).all(heads.length))
  for (let page = nextHeads(); page.length > 0; page = nextHeads()) heads.push(...page)
  const bytes = [...items, ...heads].reduce((sum, { value }) => sum + (value?.length ?? 0), file.bytesRead)
  return {
    pieces: [
      ...decodeItems(items, workspace),
      ...(query === null ? [] : [decodeHeadTable(heads, workspaceRoots(path))]),
    ],
    workspaces: [],
    identity: file.identity,
    signature: null,
    bytesRead: bytes,
    longestReadMs: file.longestReadMs(),
  }
}

const globalKeys: readonly string[] = [keys.list, keys.projects, keys.membership, ...tabKeys]
const workspaceKeys: readonly string[] = [...tabKeys, keys.composers, keys.pane, keys.prompts]

const PAGE_ROWS = 500

/** `/` is the character after `.`. Keys that end in `.hidden` name views that a pane hides, and no chats. */
const LIST_PANES = `
select key from ItemTable
where key > 'workbench.panel.composerChatViewPane.' and key < 'workbench.panel.composerChatViewPane/'
  and substr(key, -7) <> '.hidden'
`

const LIST_COLUMNS = `select lower(name) from pragma_table_info('composerHeaders')`

/**
 * A workspace's store has items of its own, and no table of heads.
 * @returns `items`: the keys of the items to read in this store, which need not exist. `heads`: the query for a page of the
 * table of heads; null if it has none
 * @throws UnknownLayout if a table is in an unknown form
 */
export function findLayout(db: Database.Database, isGlobal: boolean) {
  const hasItems = hasKnownTable(db, 'ItemTable', ['key', 'value'], 'key')
  const panes = hasItems && !isGlobal ? prepared<string>(db, LIST_PANES).pluck().all() : []
  const hasHeads = isGlobal && hasKnownTable(db, 'composerHeaders', [], 'key')
  return {
    items: hasItems ? [...(isGlobal ? globalKeys : workspaceKeys), ...panes] : [],
    heads: hasHeads ? headsQuery(prepared<string>(db, LIST_COLUMNS).pluck().all()) : null,
  }
}

const UP_TO_MAX = `case when octet_length(value) <= ${files.VALUE_OCTETS_MAX} then cast(value as blob) end as value`
const READ_ITEM = `
select octet_length(value) as octets, ${UP_TO_MAX} from ItemTable where key = ? and value is not null
`

/** Null if the store has no such row. NULL means the same: that is how Cursor deletes. */
export function readItem(db: Database.Database, key: string): RawItem | null {
  const row = prepared<Omit<RawItem, 'key'>>(db, READ_ITEM).get(key)
  return row === undefined ? null : { key, ...row }
}

/** @param there the names of the existing columns. SQLite ignores their case */
function headsQuery(there: readonly string[]): string {
  const columns = headColumns.map((name) => (there.includes(name.toLowerCase()) ? name : `null as ${name}`))
  const value = there.includes('value')
    ? `coalesce(octet_length(value), 0) as octets, ${UP_TO_MAX}`
    : '0 as octets, null as value'
  const order = there.includes('composerid') ? 'order by composerId' : ''
  return `select ${columns.join(', ')}, ${value} from composerHeaders ${order} limit ${PAGE_ROWS} offset ?`
}

/** It names one folder. */
const WORKSPACE_BYTES_MAX = 1024 * 1024

/**
 * The root of the workspace with this folder. Null if its `workspace.json` is missing, as for a window without a
 * folder.
 */
function readWorkspaceRoot(folder: string): string | null {
  try {
    return decodeWorkspaceRoot(readRegular(join(folder, 'workspace.json'), WORKSPACE_BYTES_MAX).toString())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** A workspace's id is the name of its folder, and must not lead out of the parent folder. */
const isName = (id: string): boolean => /^[\w-][\w.-]*$/.test(id)

/**
 * The roots of the workspaces beside this global store. Each is read once.
 * @param path the store
 */
function workspaceRoots(path: string): RootOf {
  const folder = join(dirname(dirname(path)), 'workspaceStorage')
  const known = new Map<string, string | null>()
  return (id) => {
    if (!known.has(id)) known.set(id, isName(id) ? rootOrNull(join(folder, id)) : null)
    return known.get(id) ?? null
  }
}

/** An unreadable workspace must not make its chats' heads unreadable. */
function rootOrNull(folder: string): string | null {
  try {
    return readWorkspaceRoot(folder)
  } catch {
    return null
  }
}
