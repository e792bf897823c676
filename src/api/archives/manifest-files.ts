import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Decoded } from '../../archive/chat-file.ts'
import {
  checksumIn,
  decodeHead,
  decodeManifest,
  encodeManifest,
  type Manifest,
  type ManifestHead,
} from '../../archive/manifest.ts'
import { isRunName, runPath } from '../../archive/names.ts'
import { UserError } from '../../model/user-error.ts'
import { isFolder, readPlainFile, saysWhy, syncFolders, writePlainFile } from './archive-files.ts'

/** Error codes of a path at which there is no folder. */
const NO_FOLDER = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/** Names of the runs in the folder, oldest first. Empty if there is no folder yet. @throws UserError `archive-folder` */
export function listRunNames(dir: string): readonly string[] {
  const path = join(dir, 'runs')
  try {
    const files = readdirSync(path).filter((file) => file.endsWith('.json'))
    return files
      .map((file) => file.slice(0, -'.json'.length))
      .filter(isRunName)
      .sort()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (NO_FOLDER.has(error.code)) return []
    const hint = 'Make it readable for the user who runs this, or choose another folder by archives.dir.'
    throw new UserError('archive-folder', `${path} cannot be read (${String(error.code)}).`, hint, { cause: error })
  }
}

/** @param name one of `listRunNames` */
export function readManifest(dir: string, name: string): Decoded<Manifest> {
  try {
    return decodeManifest(readPlainFile(dir, runPath(name)).toString(), name)
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${saysWhy(error)}` }
  }
}

/** Replaces the manifest of a run that has this name already. A new run needs a free name. */
export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  const path = runPath(manifest.name)
  await writePlainFile(dir, path, [encodeManifest(manifest)])
  await syncFolders(dir, [path])
}

/** What a list shows of a run: the two ends of its file. */
export interface ListedRun {
  readonly name: string
  /** Null if the file does not begin like a manifest. */
  readonly head: ManifestHead | null
  /** The checksum in the file, not compared. Null if the file does not end like a manifest. */
  readonly sha256: string | null
}

/** Enough for most heads. With a longer scope, or many chats that were left out, the whole file is read. */
const HEAD_BYTES = 256 * 1024
const END_BYTES = 128

/** The runs of an archive folder, oldest first. A list does not read the chats: a manifest may have 40 MB. */
export const listRuns = (dir: string): readonly ListedRun[] => listRunNames(dir).map((name) => listRun(dir, name))

function listRun(dir: string, name: string): ListedRun {
  const path = join(dir, runPath(name))
  try {
    const [start, end] = readEnds(path)
    const head = decodeHead(start, name) ?? decodeHead(readPlainFile(dir, runPath(name)).toString(), name)
    return { name, head, sha256: checksumIn(end) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { name, head: null, sha256: null }
  }
}

function readEnds(path: string): readonly [start: string, end: string] {
  if (isFolder(path)) throw new Error('it is a folder')
  const file = openSync(path, 'r')
  try {
    const read = (at: number, bytes: number): string => {
      const piece = Buffer.alloc(bytes)
      return piece.subarray(0, readSync(file, piece, 0, bytes, at)).toString()
    }
    return [read(0, HEAD_BYTES), read(Math.max(0, fstatSync(file).size - END_BYTES), END_BYTES)]
  } finally {
    closeSync(file)
  }
}
