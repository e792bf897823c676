import { readdirSync, readFileSync } from 'node:fs'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Decoded } from '../../archive/chat-file.ts'
import { openManifest, sealManifest, type Manifest, type SealedManifest } from '../../archive/manifest.ts'
import { isRunName, runPath } from '../../archive/names.ts'
import { writeWhole } from './object-files.ts'

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
    text = readFileSync(join(dir, runPath(name)), 'utf8')
  } catch (error) {
    return { kind: 'damaged', why: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` }
  }
  return openManifest(text, name)
}

export async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  mkdirSync(join(dir, 'runs'), { recursive: true, mode: 0o700 })
  await writeWhole(join(dir, runPath(manifest.name)), [sealManifest(manifest)])
}
