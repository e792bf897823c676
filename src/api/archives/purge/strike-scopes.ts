import type { Manifest } from '../../../archive/manifest.ts'
import { listRunNames, readManifest, writeManifest } from '../manifest-files.ts'
import { scrubScope } from './scrub-scope.ts'

/** Runs that were asked for by a text, as they are to be sealed without it. Those that are damaged are left as they are. */
export function* findScoped(dir: string, match: string): Generator<Manifest> {
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') continue
    const { sha256: _, ...manifest } = read.value
    const scope = scrubScope(manifest.scope, match)
    if (scope !== manifest.scope) yield { ...manifest, scope }
  }
}

/** To be called by whoever holds the folder's lock. @returns the names of the runs that are sealed anew */
export async function strikeScopes(dir: string, match: string): Promise<readonly string[]> {
  const names: string[] = []
  for (const manifest of findScoped(dir, match)) {
    await writeManifest(dir, manifest)
    names.push(manifest.name)
  }
  return names
}
