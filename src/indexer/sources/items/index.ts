import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import {
  type OpenFile,
  fileSignature,
  filesOf,
  isAbsence,
  mayExist,
  openCursorFile,
  orIfUnreadable,
} from '../../open-safely/cursor-file.ts'
import { type WholeContent, writeWhole } from '../../open-safely/whole-store.ts'
import { findRoot } from '../../projects/find-root.ts'
import { closedFolder, ofDatabase, read, skipped, whileOpen, type Source } from '../../source.ts'
import { readWorkspaceRoot, workspaceRoots } from '../records/user-folder.ts'
import { decodeItems, type Workspace } from './decode-items.ts'
import { decodeHeadTable } from './decode-lists.ts'
import { findLayout, readHeads, readItem, type HeadRow } from './read.ts'

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
      const skip = skipped(mirror, num, request, fileSignature(path), LOOK_EVERY_MS)
      if (skip !== null) return skip
      return whileOpen(path, async (file) => {
        await writeWhole(mirror, num, { ...readItems(file, path, null), signature: file.signature }, request)
        return read
      })
    },
  }
}

/**
 * Every workspace of one Cursor user folder. A folder without a store is none: there may be thousands of them.
 * @param userDir Cursor's `User` folder
 */
export function workspaceItemsSources(userDir: string): Source[] {
  const root = workspacesFolder(userDir)
  return storesIn(root)?.filter(mayExist).map(workspaceSource) ?? [closedFolder(WORKSPACE, root, RANK)]
}

/** The stores of workspaces that have none. */
export const absentWorkspaceStores = (userDir: string): string[] =>
  (storesIn(workspacesFolder(userDir)) ?? []).filter((path) => !mayExist(path))

/** The folder in which Cursor creates one for each workspace. */
export const workspacesFolder = (userDir: string): string => join(userDir, 'workspaceStorage')

/**
 * Where the entries of the folder have a store, if they are workspaces. One that was moved to another disk is a link. Null
 * if the folder may not be listed. Nothing but strings is made, because there may be a hundred thousand.
 */
const storesIn = (root: string): string[] | null =>
  orIfUnreadable<string[] | null>(
    () =>
      readdirSync(root)
        .sort()
        .map((name) => `${root}${sep}${name}${sep}state.vscdb`),
    // No workspace has been opened yet.
    (code) => (isAbsence(code) ? [] : null),
  )

function workspaceSource(path: string): Source {
  const folder = dirname(path)
  const id = basename(folder)
  const json = join(folder, 'workspace.json')
  const signature = (): string | null => {
    const [store, stat] = [fileSignature(path), statSync(json, { bigint: true, throwIfNoEntry: false })]
    const ofJson = stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeNs}`
    return store === null && stat === undefined ? null : `${store ?? '-'} ${ofJson}`
  }
  return {
    ...ofDatabase({ kind: WORKSPACE, decoder: DECODER, path, rank: RANK, isAlwaysWarm: false }),
    files: [...filesOf(path), json],
    signature,
    async pass(mirror, num, request) {
      const now = signature()
      const skip = skipped(mirror, num, request, now)
      if (skip !== null) return skip
      const file = openCursorFile(path)
      if (file.kind === 'closed') return file
      try {
        const rootUri = readWorkspaceRoot(folder)
        const uri = rootUri === null ? null : findRoot(rootUri)
        const workspaces = uri === null ? [] : [{ id, root: uri }]
        const content = readItems(file, path, { id, rootUri })
        await writeWhole(mirror, num, { ...content, workspaces, signature: now }, request)
        return read
      } finally {
        file.close()
      }
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
  const nextHeads = (): readonly HeadRow[] | null =>
    query === null ? null : file.read((db) => readHeads(db, query, heads.length))
  for (let page = nextHeads(); page !== null; page = nextHeads()) heads.push(...page)
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
