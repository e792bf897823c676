import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { holdsHead, readHead, sealOf, type ManifestHead } from '../../archive/manifest.ts'
import { runPath } from '../../archive/names.ts'
import { listRunNames } from './manifest-files.ts'
import { isFile } from './plain-files.ts'

/** What the two ends of a run's file say. */
export interface ListedRun {
  readonly name: string
  /** Null if the file does not begin like a manifest. */
  readonly head: ManifestHead | null
  /** The seal in the file, not checked. Null if the file does not end like a manifest. */
  readonly sha256: string | null
}

/** Enough for most heads. A long scope or a long list of chats that were left out needs more. */
const HEAD_BYTES = 256 * 1024
/** A file whose chats do not start before this is not a manifest. */
const HEAD_BYTES_MAX = 64 * 1024 * 1024
const SEAL_BYTES = 128

/** The runs of an archive folder, oldest first. Reads only the two ends of each manifest. */
export const listRuns = (dir: string): readonly ListedRun[] => listRunNames(dir).map((name) => readEnds(dir, name))

function readEnds(dir: string, name: string): ListedRun {
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

/** Null if the path is not a file, or not readable. */
function openFile(path: string): number | null {
  try {
    return isFile(path) ? openSync(path, 'r') : null
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/** Reads to the line that starts the chats, or further. */
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
