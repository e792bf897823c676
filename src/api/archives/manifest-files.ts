import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Decoded } from '../../archive/chat-file.ts'
import { openManifest, sealManifest, type Manifest, type SealedManifest } from '../../archive/manifest.ts'
import { isRunName, runName, runPath } from '../../archive/names.ts'
import { UserError } from '../../model/user-error.ts'
import { writeWhole } from './object-files.ts'
import { readPlainFile, saysWhy } from './plain-files.ts'

const MANIFEST_BYTES_MAX = 500 * 1024 * 1024

/** A process that writes to the archive holds a SQLite lock on this file. It is always empty. */
export const ARCHIVE_LOCK = '.lock'

/** Names of the runs in the folder, oldest first. Empty if there is no folder yet. @throws UserError `archive-folder` */
export function listRunNames(dir: string): readonly string[] {
  return listFolder(join(dir, 'runs'))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter(isRunName)
    .sort()
}

/** Error codes of a path at which there is no folder. */
const NO_FOLDER = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (NO_FOLDER.has(error.code)) return []
    throw unreadable(path, error)
  }
}

/** Only the user can fix the reason. */
function unreadable(path: string, error: Error): UserError {
  const hint = 'Make it readable for the user who runs this, or choose another folder by archives.dir.'
  const why = 'code' in error ? String(error.code) : error.message
  return new UserError('archive-folder', `${path} cannot be read (${why}).`, hint, {
    cause: error,
  })
}

/** Error codes for missing permissions. */
const FORBIDDEN = new Set<unknown>(['EACCES', 'EPERM', 'EROFS'])

/** An error of missing permissions becomes a `UserError` that names the path. Any other error stays as it is. */
export function explainForbidden(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'path' in error) || !FORBIDDEN.has(error.code)) return error
  if ('syscall' in error && error.syscall === 'scandir') return unreadable(String(error.path), error)
  const text = `${String(error.path)} may not be read, or not be written to (${String(error.code)}).`
  const hint =
    'Let the user who runs this read and write it, or choose another folder by archives.dir. A restore with --from only reads.'
  return new UserError('archive-folder', text, hint, { cause: error })
}

/** @param name one of `listRunNames` */
export function readManifest(dir: string, name: string): Decoded<SealedManifest> {
  let text: string
  try {
    text = readPlainFile(dir, join(dir, runPath(name)), MANIFEST_BYTES_MAX).toString()
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${saysWhy(error)}` }
  }
  return openManifest(text, name)
}

/** Replaces the manifest of a run that has this name already. A new run needs a free name. */
export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  await writeWhole(dir, join(dir, runPath(manifest.name)), sealManifest(manifest))
}

/** The name of a run that begins now. @param taken names that are in use without a file */
export const nameRun = (
  dir: string,
  atMs: number,
  job: string | null,
  taken: ReadonlySet<string> = new Set(),
): string => runName(atMs, job ?? 'manual', new Set([...listRunNames(dir), ...taken]))
