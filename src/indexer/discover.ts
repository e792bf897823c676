import type { Source } from './source.ts'
import { composerKvSource } from './sources/composer-kv/index.ts'
import { workspaceItemsSources, workspacesFolder } from './sources/workspace-items/index.ts'

export interface Places {
  /** Cursor's `User` folders. */
  readonly userDirs: readonly string[]
  /** Kinds of sources that the user switched off. */
  readonly disabledKinds: readonly string[]
}

/** Every store to look at now; workspaces come and go, so this is asked again from time to time. */
export function discoverSources({ userDirs, disabledKinds }: Places): Source[] {
  const sources = userDirs.flatMap((userDir) => [composerKvSource(userDir), ...workspaceItemsSources(userDir)])
  return sources.filter((source) => !disabledKinds.includes(source.kind))
}

/** Folders in which new sources appear. */
export function nurseries({ userDirs }: Places): string[] {
  return userDirs.map(workspacesFolder)
}
