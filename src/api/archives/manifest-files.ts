import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Decoded } from '../../archive/chat-file.ts'
import { openManifest, sealManifest, type Manifest, type SealedManifest } from '../../archive/manifest.ts'
import { isRunName, runName, runPath } from '../../archive/names.ts'
import { writeWhole } from './object-files.ts'
import { readPlainFile, saysWhy } from './plain-files.ts'

const MANIFEST_BYTES_MAX = 500 * 1024 * 1024

/** Held, as SQLite holds a file, by whoever writes to the archive; nothing is ever in it. */
export const ARCHIVE_LOCK = '.lock'

/** Names of the runs whose manifests lie in the folder, the oldest first; none where there is no folder yet. */
export function listRunNames(dir: string): readonly string[] {
  return listFolder(join(dir, 'runs'))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter(isRunName)
    .sort()
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** @param name as `listRunNames` gives it */
export function readManifest(dir: string, name: string): Decoded<SealedManifest> {
  let text: string
  try {
    text = readPlainFile(dir, join(dir, runPath(name)), MANIFEST_BYTES_MAX).toString()
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${saysWhy(error)}` }
  }
  return openManifest(text, name)
}

export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  await writeWhole(dir, join(dir, runPath(manifest.name)), [Buffer.from(sealManifest(manifest))])
}

/** The name of a run that begins now. @param taken names that are in use though no file has them */
export const nameRun = (
  dir: string,
  atMs: number,
  job: string | null,
  taken: ReadonlySet<string> = new Set(),
): string => runName(atMs, job ?? 'manual', new Set([...listRunNames(dir), ...taken]))
