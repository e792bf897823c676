import { join } from 'node:path'
import { eachFolderOnce, listFolders, mayBeFolder, mayExist } from './open-safely/cursor-file.ts'
import type { Source } from './source.ts'
import { cliStoreSource } from './sources/cli-store/read.ts'
import { composerKvSource } from './sources/composer-kv/store-pass.ts'
import {
  absentWorkspaceStores,
  globalItemsSource,
  workspaceItemsSources,
  workspacesFolder,
} from './sources/items/read.ts'
import { agentBlobsSource, pastedTextSource } from './sources/named-blobs/read.ts'
import { plansSource } from './sources/plans/read.ts'
import { trackingSource } from './sources/tracking/read.ts'
import { absentTranscripts, nursery, transcriptSources } from './sources/transcripts/read.ts'

export interface Places {
  /** Cursor's `User` folders. */
  readonly userDirs: readonly string[]
  /** Cursor's home folders, such as `~/.cursor`. */
  readonly homes: readonly string[]
  /** Kinds of sources that the user has switched off. */
  readonly disabledKinds: readonly string[]
  /** Names, ids and path globs of projects that are not mirrored. */
  readonly excludedProjects?: readonly string[]
}

/** One store format: where its stores are, and in which folders new ones appear. */
interface StoreFormat {
  sources(places: Places): readonly Source[]
  nurseries?(places: Places): readonly string[]
  /** Stores that do not exist, in folders that do. */
  absent?(places: Places): readonly string[]
}

/** A store that is a folder directly in a home folder. */
const inHomes = (name: string, source: (folder: string) => Source): StoreFormat => ({
  sources: ({ homes }) =>
    homes
      .map((home) => join(home, name))
      .filter((folder) => mayBeFolder(folder))
      .map(source),
  nurseries: ({ homes }) => homes,
})

/** Every supported format, one per line. */
const formats: readonly StoreFormat[] = [
  { sources: ({ userDirs }) => userDirs.map(composerKvSource) },
  // These two read only what messages of the source above refer to.
  { sources: ({ userDirs }) => userDirs.map(agentBlobsSource) },
  { sources: ({ userDirs }) => userDirs.map(pastedTextSource) },
  { sources: ({ userDirs }) => userDirs.map(globalItemsSource) },
  {
    sources: ({ userDirs }) => userDirs.flatMap(workspaceItemsSources),
    nurseries: ({ userDirs }) => userDirs.map(workspacesFolder),
    absent: ({ userDirs }) => userDirs.flatMap(absentWorkspaceStores),
  },
  // It contains no chats. It is read before the next two sources, so that their chats have dates when they are written.
  inHomes('ai-tracking', trackingSource),
  inHomes('chats', (folder) => cliStoreSource({ folder, layout: 'by-folder' })),
  inHomes('acp-sessions', (folder) => cliStoreSource({ folder, layout: 'flat' })),
  {
    sources: ({ homes }) => homes.flatMap(transcriptSources),
    nurseries: ({ homes }) => homes.map(nursery),
    absent: ({ homes }) => homes.flatMap(absentTranscripts),
  },
  // It contains no chats either: its documents belong to chats of all others.
  inHomes('plans', plansSource),
]

/** Every store that exists now. Workspaces come and go, so this is called again from time to time. */
export function discoverSources(places: Places): Source[] {
  const unique = withoutDuplicates(places)
  const sources = formats.flatMap((format) => format.sources(unique))
  return sources.filter((source) => !places.disabledKinds.includes(source.kind))
}

/** Where new sources appear: folders that get new entries, and stores that do not exist yet. */
export function nurseries(places: Places): { readonly folders: string[]; readonly absent: string[] } {
  const unique = withoutDuplicates(places)
  return {
    folders: formats.flatMap((format) => format.nurseries?.(unique) ?? []),
    absent: formats.flatMap((format) => format.absent?.(unique) ?? []),
  }
}

/** Folders of a home in which builds of Cursor's command line before 2026 kept chats, and their files, as other programs say. */
const OLDER_TREES = ['agent-sessions', 'conversations', 'sessions']
const OLDER_FILES = ['events.jsonl', 'transcript.jsonl', 'messages.jsonl']

/** Trees of chats that no format reads, because their form was not seen, each with how many chats may be in it. */
export const listUnreadTrees = ({
  homes,
}: Pick<Places, 'homes'>): { readonly path: string; readonly chats: number }[] =>
  eachFolderOnce(homes).flatMap((home) =>
    OLDER_TREES.flatMap((name) => {
      const path = join(home, name)
      const isChat = (folder: string): boolean => OLDER_FILES.some((file) => mayExist(join(path, folder, file)))
      const chats = (listFolders(path) ?? []).filter(isChat).length
      return chats === 0 ? [] : { path, chats }
    }),
  )

/** Checked on each call: a folder that did not exist at the start may turn out to be a second name of another one. */
const withoutDuplicates = (places: Places): Places => ({
  ...places,
  userDirs: eachFolderOnce(places.userDirs),
  homes: eachFolderOnce(places.homes),
})

/** The folders that Cursor creates in its `User` folder at its first start. */
export const userFolderParts = ['globalStorage', 'workspaceStorage'] as const

export const isUserFolder = (path: string): boolean => userFolderParts.some((name) => mayExist(join(path, name)))
