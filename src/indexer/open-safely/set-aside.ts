import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ChatId } from '../../model/ids.ts'
import { endedBy, openCursorFile, type OpenFile } from './cursor-file.ts'

// Cursor leaves earlier states of a store beside it: one that it could not open, and the copy that it makes when it quits.
// They may have chats that are nowhere else.

const SET_ASIDE = /^\.(?:corrupted\..+|backup)$/
const BESIDE = /-(?:wal|shm|journal)$/

/** The files beside a store in which Cursor left an earlier state of it. None if the folder may not be listed. */
export function listSetAside(path: string): string[] {
  const name = basename(path)
  return namesIn(dirname(path))
    .filter((other) => other.startsWith(name) && SET_ASIDE.test(other.slice(name.length)) && !BESIDE.test(other))
    .map((other) => join(dirname(path), other))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/**
 * Reads such a file. Cursor does not open it under this name, so what SQLite makes beside it, to read it, is ours and is
 * removed.
 * @param chatsIn what a source finds in it
 * @returns the chats until it could not be read any further, and why
 */
export function readSetAside(
  path: string,
  chatsIn: (file: OpenFile) => Iterable<ChatId>,
): { readonly ids: ReadonlySet<ChatId>; readonly trouble: string | null } {
  const absent = [`${path}-wal`, `${path}-shm`].filter((name) => !existsSync(name))
  const file = openCursorFile(path)
  const ids = new Set<ChatId>()
  if (file.kind === 'closed') return { ids, trouble: file.detail ?? file.state }
  try {
    for (const id of chatsIn(file)) ids.add(id)
    return { ids, trouble: null }
  } catch (error) {
    const { detail, state } = endedBy(error)
    return { ids, trouble: detail ?? state }
  } finally {
    file.close()
    for (const name of absent) rmSync(name, { force: true })
  }
}
