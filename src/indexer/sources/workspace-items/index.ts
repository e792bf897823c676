import { hash as digest } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { arrangeThread } from '../../arrange-thread.ts'
import { closedBy, fileSignature, openCursorFile } from '../../cursor-file.ts'
import { weighEvidence } from '../../projects.ts'
import { normaliseRoot } from '../../root-uri.ts'
import type { PassEnd, PassRequest, PassStep, Source } from '../../source.ts'
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
  const root = join(userDir, 'workspaceStorage')
  return listFolders(root).map((name) => workspaceSource(root, name))
}

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
    watchFolders: [folder],
    signature: () => {
      const store = fileSignature(path)
      const json = jsonSignature(join(folder, 'workspace.json'))
      return store === null && json === null ? null : `${store ?? '-'} ${json ?? '-'}`
    },
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const signature = source.signature()
      if (request.depth === 'nudge' && signature === held.readPosition(mirror, num).signature) return untouched
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
  try {
    const json = readWorkspaceJson(join(workspace.folder, 'workspace.json'))
    const rootUri = json === null ? null : decodeWorkspaceRoot(json)
    const heads = readChatIds(workspace.path)
    if (heads.end.state !== 'ok' && heads.end.state !== 'missing') return { end: heads.end, step: null }
    const root = rootUri === null ? null : normaliseRoot(rootUri)
    const evidence = heads.chatIds.flatMap((id) =>
      rootUri === null ? [] : weighEvidence(id, [{ method: 'workspace-heads', uri: rootUri }]),
    )
    const workspaces = root === null ? [] : [{ id: workspace.workspaceId, root }]
    const before = held.readPosition(mirror, num)
    const position = { ...before, identity: heads.identity, signature: workspace.signature }
    const batch = { ...emptyBatch, source: num, nowMs: request.now(), evidence, workspaces, position }
    const outcome = writeBatch(mirror, batch, arrangeThread)
    return {
      end: { ...untouched },
      step: { done: 0, total: 0, bytesRead: heads.bytesRead, longestReadMs: heads.elapsedMs, outcome },
    }
  } catch (error) {
    const { state, detail } = closedBy(error)
    return { end: { state, detail, isCountDue: false }, step: null }
  }
}

const untouched: PassEnd = { state: 'ok', detail: null, isCountDue: false }

interface Heads {
  readonly end: PassEnd
  readonly chatIds: readonly ChatId[]
  readonly identity: string
  readonly bytesRead: number
  readonly elapsedMs: number
}

function readChatIds(path: string): Heads {
  const file = openCursorFile(path)
  if (file.kind === 'closed') {
    const end = { state: file.state, detail: file.detail, isCountDue: false }
    return { end, chatIds: [], identity: '', bytesRead: 0, elapsedMs: 0 }
  }
  try {
    const startedAt = performance.now()
    const value = file.read(readHeads)
    const elapsedMs = performance.now() - startedAt
    const bytesRead = file.bytesRead + (value?.length ?? 0)
    const chatIds = value === null ? [] : decodeHeads(value)
    return { end: untouched, chatIds, identity: file.identity, bytesRead, elapsedMs }
  } finally {
    file.close()
  }
}
