import { closedBy, openCursorFile, type ClosedFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'
import type { Piece, WholeContent } from '../../open-safely/whole-store.ts'
import { eachChatOnce } from '../records/chat/whole-chats.ts'
import { readWorkspaceRoot } from '../records/chat/user-folder.ts'
import { decodeItem, type Workspace } from './decode-item.ts'
import { listItems, readItem } from './read.ts'

export interface Place {
  /** The name of the workspace's folder. */
  readonly id: string
  readonly folder: string
  /** The path of its store. */
  readonly path: string
}

/** The current content of a workspace's folder. `bare`: it has no store, and at most a root. */
export type Found =
  | { readonly kind: 'whole'; readonly content: WholeContent }
  | { readonly kind: 'bare'; readonly workspaces: WholeContent['workspaces'] }
  | ClosedFile

export function readWorkspace({ id, folder, path }: Place, signature: string | null): Found {
  const file = openCursorFile(path)
  if (file.kind === 'closed' && file.state !== 'missing') return file
  try {
    const rootUri = readWorkspaceRoot(folder)
    const root = rootUri === null ? null : normaliseRoot(rootUri)
    const workspaces = root === null ? [] : [{ id, root }]
    if (file.kind === 'closed') return { kind: 'bare', workspaces }
    const read = readPieces(file, { id, rootUri })
    return { kind: 'whole', content: { ...read, workspaces, identity: file.identity, signature } }
  } catch (error) {
    return closedBy(error)
  } finally {
    if (file.kind === 'open') file.close()
  }
}

/** One item per transaction: a store that could not be copied is open only while one value is read. */
function readPieces(
  file: OpenFile,
  workspace: Workspace,
): Pick<WholeContent, 'pieces' | 'bytesRead' | 'longestReadMs'> {
  const pieces: Piece[] = []
  let bytesRead = file.bytesRead
  let longestReadMs = 0
  for (const ref of file.read(listItems)) {
    const startedAt = performance.now()
    const item = file.read((db) => readItem(db, ref))
    longestReadMs = Math.max(longestReadMs, performance.now() - startedAt)
    if (item === null) continue
    bytesRead += item.value?.length ?? 0
    pieces.push(decodeItem(item, workspace))
  }
  return { pieces: eachChatOnce(pieces), bytesRead, longestReadMs }
}
