import { hash as digest } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { arrangeThread } from '../../arrange-thread.ts'
import { closedBy, filesOf, fileSignature, openCursorFile } from '../../cursor-file.ts'
import { weighEvidence } from '../../projects.ts'
import { normaliseRoot } from '../../root-uri.ts'
import { readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../../source.ts'
import { emptyBatch } from '../../../mirror/batch.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/source-state.ts'
import { writeBatch } from '../../../mirror/write-batch.ts'
import { asSourceId, type ChatId } from '../../../model/ids.ts'
import { decodeHeads, decodeWorkspaceRoot } from './decode.ts'
import { readHeads, readWorkspaceJson } from './read.ts'

const KIND = 'workspace-items'

/** Every workspace folder of one Cursor user folder. @param userDir Cursor's `User` folder */
export function workspaceItemsSources(userDir: string): Source[] {
  const root = workspacesFolder(userDir)
  return listFolders(root).map((name) => workspaceSource(root, name))
}

/** The folder in which Cursor makes one for each workspace. */
export const workspacesFolder = (userDir: string): string => join(userDir, 'workspaceStorage')

function listFolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    // No workspace was opened yet, or the folder is not ours to read: the global store tells of the latter.
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

function workspaceSource(root: string, workspaceId: string): Source {
  const folder = join(root, workspaceId)
  const path = join(folder, 'state.vscdb')
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${path}`).slice(0, 16)),
    kind: KIND,
    path,
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
      const { end, step } = readWorkspace(mirror, num, { folder, path, workspaceId, signature }, request)
      if (step !== null) yield step
      held.saveSourceState(mirror, num, end.state, end.detail, end.state === 'ok' ? request.now() : null)
      return end
    },
  }
  return source
}

function jsonSignature(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

interface Workspace {
  readonly folder: string
  readonly path: string
  readonly workspaceId: string
  readonly signature: string | null
}

function readWorkspace(
  mirror: Mirror,
  num: number,
  workspace: Workspace,
  request: PassRequest,
): { readonly end: PassEnd; readonly step: PassStep | null } {
  const found = lookInto(workspace)
  if (found.end.state !== 'ok') return { end: found.end, step: null }
  const { rootUri, chatIds } = found
  const root = rootUri === null ? null : normaliseRoot(rootUri)
  const evidence = chatIds.flatMap((id) =>
    rootUri === null ? [] : weighEvidence(id, [{ method: 'workspace-heads', uri: rootUri }], { isOnly: false }),
  )
  const workspaces = root === null ? [] : [{ id: workspace.workspaceId, root }]
  const before = held.readPosition(mirror, num)
  const position = { ...before, identity: found.identity, signature: workspace.signature }
  const batch = { ...emptyBatch, source: num, nowMs: request.now(), evidence, workspaces, position }
  const outcome = writeBatch(mirror, batch, arrangeThread)
  const { bytesRead, elapsedMs } = found
  return { end: untouched, step: { ...readingStep, bytesRead, longestReadMs: elapsedMs, outcome } }
}

const untouched: PassEnd = { state: 'ok', detail: null, isCountDue: false }

interface Found {
  readonly end: PassEnd
  readonly rootUri: string | null
  readonly chatIds: readonly ChatId[]
  readonly identity: string
  readonly bytesRead: number
  readonly elapsedMs: number
}

const nothingFound = { rootUri: null, chatIds: [], identity: '', bytesRead: 0, elapsedMs: 0 }

/** A workspace without a store still has a folder, and one without a folder is no trouble. */
function lookInto({ folder, path }: Workspace): Found {
  const file = openCursorFile(path)
  if (file.kind === 'closed' && file.state !== 'missing') {
    return { end: { state: file.state, detail: file.detail, isCountDue: false }, ...nothingFound }
  }
  try {
    const json = readWorkspaceJson(join(folder, 'workspace.json'))
    const rootUri = json === null ? null : decodeWorkspaceRoot(json)
    if (file.kind === 'closed') return { end: untouched, ...nothingFound, rootUri }
    const startedAt = performance.now()
    const value = file.read(readHeads)
    const elapsedMs = performance.now() - startedAt
    const bytesRead = file.bytesRead + (value?.length ?? 0)
    const chatIds = value === null ? [] : decodeHeads(value)
    return { end: untouched, rootUri, chatIds, identity: file.identity, bytesRead, elapsedMs }
  } catch (error) {
    const { state, detail } = closedBy(error)
    return { end: { state, detail, isCountDue: false }, ...nothingFound }
  } finally {
    if (file.kind === 'open') file.close()
  }
}
