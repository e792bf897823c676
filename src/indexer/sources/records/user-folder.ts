import { join, dirname } from 'node:path'
import { readRegular } from '../../../regular-file.ts'
import { mayExist } from '../../open-safely/cursor-file.ts'
import { asRecord, firstFilledIn, parseJson } from './json.ts'

/** The folders that Cursor creates in its `User` folder at its first start. */
export const userFolderParts = ['globalStorage', 'workspaceStorage'] as const

export const isUserFolder = (path: string): boolean => userFolderParts.some((name) => mayExist(join(path, name)))

/**
 * The root of a workspace folder: `folder`, or for several folders the `.code-workspace` file under `workspace`
 * (`configuration` in old versions). That file is never opened: it may be on another machine, and the workspace is one
 * project whatever it lists. Null if no root is named.
 */
export function decodeWorkspaceRoot(text: string): string | null {
  return firstFilledIn(asRecord(parseJson(text)?.value), ['folder', 'workspace', 'configuration'])
}

/** It names one folder. */
const WORKSPACE_BYTES_MAX = 1024 * 1024

/**
 * The root of the workspace with this folder. Null if its `workspace.json` is missing, as for a window without a
 * folder.
 */
export function readWorkspaceRoot(folder: string): string | null {
  try {
    return decodeWorkspaceRoot(readRegular(join(folder, 'workspace.json'), WORKSPACE_BYTES_MAX).toString())
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** The root of a workspace, by its id; null if there is none. */
export type RootOf = (workspaceId: string) => string | null

/** A workspace's id is the name of its folder, and must not lead out of the parent folder. */
const isName = (id: string): boolean => /^[\w-][\w.-]*$/.test(id)

/**
 * The roots of the workspaces beside this global store. Each is read once.
 * @param path the store
 */
export function workspaceRoots(path: string): RootOf {
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
