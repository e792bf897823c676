import { eachFolderOnce } from './open-safely/file-identity.ts'
import type { Source } from './source.ts'
import { cliStoreSources } from './sources/cli-store/index.ts'
import { composerKvSource } from './sources/composer-kv/index.ts'
import { globalItemsSource } from './sources/global-items/index.ts'
import { agentBlobsSource } from './sources/named-blobs/agent-blobs.ts'
import { pastedTextSource } from './sources/named-blobs/pasted-text.ts'
import { trackingSources } from './sources/tracking/index.ts'
import { nursery, transcriptSources } from './sources/transcripts/index.ts'
import { workspaceItemsSources, workspacesFolder } from './sources/workspace-items/index.ts'

export interface Places {
  /** Cursor's `User` folders. */
  readonly userDirs: readonly string[]
  /** Cursor's home folders, such as `~/.cursor`. */
  readonly homes: readonly string[]
  /** Kinds of sources that the user switched off. */
  readonly disabledKinds: readonly string[]
}

/** One format of a store: where its stores are, and the folders in which new ones appear. */
export interface StoreFormat {
  sources(places: Places): readonly Source[]
  nurseries?(places: Places): readonly string[]
}

/** Every format that is read, a line each. */
export const formats: readonly StoreFormat[] = [
  { sources: ({ userDirs }) => userDirs.map(composerKvSource) },
  // What the messages of the one before ask for.
  { sources: ({ userDirs }) => userDirs.map(agentBlobsSource) },
  { sources: ({ userDirs }) => userDirs.map(pastedTextSource) },
  { sources: ({ userDirs }) => userDirs.map(globalItemsSource) },
  {
    sources: ({ userDirs }) => userDirs.flatMap(workspaceItemsSources),
    nurseries: ({ userDirs }) => userDirs.map(workspacesFolder),
  },
  // It makes no chats. Read before the two that follow, it dates their chats as they are written.
  { sources: ({ homes }) => homes.flatMap(trackingSources), nurseries: ({ homes }) => homes },
  // Its folders appear in the home itself.
  { sources: ({ homes }) => homes.flatMap(cliStoreSources), nurseries: ({ homes }) => homes },
  { sources: ({ homes }) => homes.flatMap(transcriptSources), nurseries: ({ homes }) => homes.map(nursery) },
]

/** Every store to look at now; workspaces come and go, so this is asked again from time to time. */
export function discoverSources(places: Places, among: readonly StoreFormat[] = formats): Source[] {
  const looked = named(places)
  const sources = among.flatMap((format) => format.sources(looked))
  return sources.filter((source) => !places.disabledKinds.includes(source.kind))
}

/** Folders in which new sources appear. */
export function nurseries(places: Places, among: readonly StoreFormat[] = formats): string[] {
  const looked = named(places)
  return among.flatMap((format) => format.nurseries?.(looked) ?? [])
}

/** Asked each time: a folder that was not there when we started may turn out to be another one's second name. */
const named = (places: Places): Places => ({
  ...places,
  userDirs: eachFolderOnce(places.userDirs),
  homes: eachFolderOnce(places.homes),
})
