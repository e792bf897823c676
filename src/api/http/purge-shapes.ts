import type { PurgeScope } from '../../mirror/purge/scope.ts'
import type { Unfinished } from '../../mirror/purge/state.ts'
import type { DamagedArchive } from '../archives/purge/survey-archive.ts'

export interface PurgeRequest {
  readonly scope: PurgeScope
  /** Told what would go; nothing goes. */
  readonly isDryRun: boolean
}

export interface PurgedChat {
  readonly id: string
  readonly title: string
  /** True where nothing of it stays, and nothing of it comes in again. */
  readonly isWhole: boolean
  readonly messages: number
}

/** What was removed, or would be. */
export interface PurgeReport {
  readonly dryRun: boolean
  /** The first hundred of them. */
  readonly chats: readonly PurgedChat[]
  readonly chatCount: number
  readonly messages: number
  /** So many of the messages Cursor held still. It keeps them, and they are not read again. */
  readonly inCursor: number
  /** Names, summaries, todos and paths of chats in which the text stands. */
  readonly facts: number
  /** Chats that were named, and that neither the mirror nor an archive knows. */
  readonly unknownChats: readonly string[]
  /** Damaged mirrors that were set aside, and are removed. */
  readonly setAside: readonly string[]
  readonly archives: {
    readonly objects: number
    readonly messages: number
    readonly runs: readonly string[]
    readonly damaged: readonly DamagedArchive[]
  }
  /** What is left to be done later, in a sentence; null where nothing is. */
  readonly left: string | null
  /** The search of all files at the end; null for a dry run, and for a purge that is not of a text alone. */
  readonly check: {
    readonly files: number
    readonly bytes: number
    readonly found: readonly { readonly file: string; readonly times: number; readonly at: number }[]
    readonly unread: readonly string[]
  } | null
}

export interface PurgeState {
  /** What a purge is at, in words for a person; null where none runs. */
  readonly doing: string | null
  readonly tombstones: { readonly chats: number; readonly messages: number; readonly texts: number }
  readonly unfinished: Unfinished
}

/** Removes for good. Handed to the HTTP side, which only reads. */
export interface PurgeActs {
  /** @throws UserError `purge-busy` while another one runs */
  purge(request: PurgeRequest): Promise<PurgeReport>
  /** See `PurgeState`. */
  readonly doing: string | null
}
