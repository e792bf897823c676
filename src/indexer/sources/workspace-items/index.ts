import { hash as digest } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { closedFolder } from '../../open-safely/closed-folder.ts'
import { isAbsence } from '../../open-safely/file-identity.ts'
import { filesOf, fileSignature } from '../../open-safely/cursor-file.ts'
import { readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../../source.ts'
import { unknownIn, type WholeContent } from '../../open-safely/whole-store.ts'
import { writeWhole } from '../../open-safely/write-whole.ts'
import { emptyBatch } from '../../../mirror/write/batch.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asSourceId } from '../../../model/ids.ts'
import { readWorkspace } from './read-workspace.ts'

const KIND = 'workspace-items'
const DECODER = 3
/** The global store's version of a chat is newer: the workspace's copy is from before the chat was moved there. */
const RANK = 2

/**
 * Every workspace folder of one Cursor user folder.
 * @param userDir Cursor's `User` folder
 */
export function workspaceItemsSources(userDir: string): Source[] {
  const root = workspacesFolder(userDir)
  return listFolders(root)?.map((name) => workspaceSource(root, name)) ?? [closedFolder(KIND, root, RANK)]
}

/** The folder in which Cursor creates one for each workspace. */
export const workspacesFolder = (userDir: string): string => join(userDir, 'workspaceStorage')

/** Null if the folder may not be listed. */
function listFolders(root: string): string[] | null {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isLinkToFolder(join(root, entry.name))))
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    // No workspace has been opened yet.
    if (isAbsence(error)) return []
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** A workspace that was moved to another disk is a link to its new place; Cursor follows it. */
function isLinkToFolder(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    // If the link leads to a place that we may not examine, the workspace's pass says so.
    if (error instanceof Error && 'code' in error) return !isAbsence(error)
    throw error
  }
}

function workspaceSource(root: string, id: string): Source {
  const folder = join(root, id)
  const path = join(folder, 'state.vscdb')
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${path}`).slice(0, 16)),
    kind: KIND,
    decoder: DECODER,
    path,
    rank: RANK,
    folder,
    files: [...filesOf(path), join(folder, 'workspace.json')],
    isAlwaysWarm: false,
    signature: () => {
      const store = fileSignature(path)
      const json = jsonSignature(join(folder, 'workspace.json'))
      return store === null && json === null ? null : `${store ?? '-'} ${json ?? '-'}`
    },
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const signature = source.signature()
      if (request.depth === 'nudge' && signature === held.readPosition(mirror, num).signature) {
        held.saveSourceState(mirror, num, 'ok', null, null)
        return untouched
      }
      const found = readWorkspace({ id, folder, path }, signature)
      if (found.kind === 'closed') {
        held.saveSourceState(mirror, num, found.state, found.detail, null)
        return { state: found.state, detail: found.detail, again: [] }
      }
      if (found.kind === 'whole') yield* writeWhole(mirror, source, found.content, request)
      else yield writeRoot(mirror, num, { workspaces: found.workspaces, signature }, request)
      held.saveSourceState(mirror, num, 'ok', null, request.now())
      return untouched
    },
    chatsIn: (other, known) => unknownIn(readWorkspace({ id, folder, path: other }, null), known),
  }
  return source
}

const untouched: PassEnd = { state: 'ok', detail: null, again: [] }

function jsonSignature(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

/** A workspace without a store still has a folder. What its store contained is kept: it may have been moved away. */
function writeRoot(
  mirror: Mirror,
  num: number,
  { workspaces, signature }: Pick<WholeContent, 'workspaces' | 'signature'>,
  request: PassRequest,
): PassStep {
  const before = held.readPosition(mirror, num)
  const position = { ...before, identity: before.identity ?? '', signature }
  const batch = { ...emptyBatch, source: num, nowMs: request.now(), workspaces, position }
  return { ...readingStep, outcome: writeBatch(mirror, batch) }
}
