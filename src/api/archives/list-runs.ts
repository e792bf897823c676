import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { holdsHead, readHead, sealOf, type ManifestHead } from '../../archive/manifest.ts'
import { runPath } from '../../archive/names.ts'
import { listRunNames } from './manifest-files.ts'
import { isFile } from './plain-files.ts'

/** A run as its file tells it at a glance. */
export interface ListedRun {
  readonly name: string
  /** Null where the file does not begin as a manifest does. */
  readonly head: ManifestHead | null
  /** The seal as the file gives it, unproven; null where it does not end as a manifest does. */
  readonly sha256: string | null
}

/** Enough for nearly all; a scope may be as long as a request, and each chat that was left out is named. */
const HEAD_BYTES = 256 * 1024
/** What holds no beginning of chats up to here is no manifest. */
const HEAD_BYTES_MAX = 64 * 1024 * 1024
const SEAL_BYTES = 128

/** The runs of an archive folder, the oldest first. Reads the two ends of each manifest, however long it is. */
export const listRuns = (dir: string): readonly ListedRun[] => listRunNames(dir).map((name) => glance(dir, name))

function glance(dir: string, name: string): ListedRun {
  const file = openFile(join(dir, runPath(name)))
  if (file === null) return { name, head: null, sha256: null }
  try {
    const { size } = fstatSync(file)
    const head = readHead(readStart(file, size), name)
    const sha256 = sealOf(readPiece(file, Math.max(0, size - SEAL_BYTES), SEAL_BYTES))
    return { name, head: head.kind === 'sound' ? head.value : null, sha256 }
  } finally {
    closeSync(file)
  }
}

/** Null for what is no file, or none that may be read: of that nothing can be told. */
function openFile(path: string): number | null {
  try {
    return isFile(path) ? openSync(path, 'r') : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** To behind the line that begins the chats. */
function readStart(file: number, size: number): string {
  const most = Math.min(size, HEAD_BYTES_MAX)
  for (let bytes = HEAD_BYTES; ; bytes *= 4) {
    const start = readPiece(file, 0, Math.min(bytes, most))
    if (bytes >= most || holdsHead(start)) return start
  }
}

function readPiece(file: number, at: number, bytes: number): string {
  const piece = Buffer.alloc(bytes)
  return piece.subarray(0, readSync(file, piece, 0, bytes, at)).toString()
}
