import type { FolderMap } from '../../indexer/sources/archive/map-uri.ts'

/** What is to be brought back from where. */
export interface RestoreOrder {
  /** The archive folder. */
  readonly dir: string
  /** Whether it is the one into which this program archives: then nobody changes it meanwhile. */
  readonly isOwn: boolean
  /** Null for everything that any run of the folder names. */
  readonly name: string | null
  readonly map: FolderMap
}

export interface RestoreProgress {
  readonly done: number
  readonly total: number
}

/** A chat that was not taken; `id` is null where nothing tells whose it was. */
export interface RestoreDamage {
  readonly id: string | null
  readonly why: string
}

export interface RestoreResult {
  /** The run that was read, or the newest of them. */
  readonly name: string
  /** How many there were to be read. */
  readonly runs: number
  /** What is wrong with manifests; null where they are sound. */
  readonly why: string | null
  /** Those that are undamaged, whether they were missing or not, and their messages. */
  readonly chats: number
  readonly messages: number
  /** Messages that nothing held. */
  readonly added: number
  /** Chats that nothing held. */
  readonly addedChats: number
  readonly damaged: readonly RestoreDamage[]
  /** Folders of the map, as they were given, that fitted no chat of the archive. */
  readonly unusedMaps: readonly string[]
}

/** A stretch of a restore; `result` is null while there is more to do. */
export interface RestoreSlice {
  readonly progress: RestoreProgress
  readonly result: RestoreResult | null
  /** How many messages can be read and are not yet found. */
  readonly backlog: number
}
