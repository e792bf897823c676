import type { Aside } from '../mirror/aside.ts'
import type { BatchOutcome } from '../mirror/write/batch.ts'
import type { Mirror } from '../mirror/open.ts'
import type { ChatId, MessageId, SourceId } from '../model/ids.ts'
import type { SourceState } from '../model/source.ts'
import { sourceNum, noteDecoder } from '../mirror/sources/source-state.ts'
import type { ClosedFile } from './open-safely/cursor-file.ts'
import type { StoreLook } from './sources/composer-kv/read/read-unknown.ts'

/**
 * How thorough a pass is. `nudge`: only what is new, at the same cost for any store size; nothing if the file is
 * unchanged. `sweep`: the next few megabytes of a comparison of every value. `recent`: a comparison of the values of
 * chats active within a day. `count`: that, plus a count of rows, and a comparison of every key if the numbers differ.
 * `reconcile`: a comparison of every key. `full`: a comparison of every value at once.
 */
export const passDepths = ['nudge', 'sweep', 'recent', 'count', 'reconcile', 'full'] as const
export type PassDepth = (typeof passDepths)[number]

export const isAtLeast = (depth: PassDepth, least: PassDepth): boolean =>
  passDepths.indexOf(depth) >= passDepths.indexOf(least)

/**
 * If more rows than this, and more than this share of the source's rows, vanish at once, it may be an accident and not
 * a deletion.
 */
export interface MassRule {
  readonly rows: number
  readonly share: number
}

export interface PassRequest {
  readonly depth: PassDepth
  readonly now: () => number
  /** How many missing rows count as a mass loss. The default is `massRule` in `mass-loss.ts`. */
  readonly mass?: MassRule
  /** Takes over a part of a large pass. Without it everything is done on this thread. */
  readonly aside?: Aside
}

/** What a running pass reports after each bounded step. */
export interface PassStep {
  readonly done: number
  readonly total: number
  /** Bytes read from the source by this step. */
  readonly bytesRead: number
  /** The longest time for which a read transaction on the source was open. */
  readonly longestReadMs: number
  readonly outcome: BatchOutcome | null
  /**
   * How many messages wait for their full-text rows, if this step indexed messages. Null if the step read from a
   * source.
   */
  readonly backlog: number | null
}

/**
 * The first messages of a pass, which are the newest, are indexed at once. Later ones can be read at once and are
 * indexed afterwards.
 */
export const INDEXED_AT_ONCE = 1000

/** A step that read from a source and wrote nothing. */
export const readingStep = { done: 0, total: 0, bytesRead: 0, longestReadMs: 0, outcome: null, backlog: null } as const

/**
 * How a pass ended. Any `state` other than `ok` means that the source could not be read; the mirror keeps what it has.
 */
export interface PassEnd {
  readonly state: SourceState
  readonly detail: string | null
  /** When to pass again, and how deep, even if the file does not change. */
  readonly again: readonly Again[]
}

export interface Again {
  readonly depth: PassDepth
  readonly inMs: number
}

/** A cheap pass leaves the count to a later one, because rows are counted at most once a minute. */
export const countLater: Again = { depth: 'count', inMs: 60_000 }

/**
 * One store of Cursor's. An adapter knows its format, and nothing of the format leaves the adapter. A pass is a
 * generator: it opens the store, works in bounded steps, and has closed every handle when it ends.
 */
export interface Source {
  readonly id: SourceId
  readonly kind: string
  readonly path: string
  /** If several sources have a chat, the one with the lowest rank decides. 0 is the most complete source. */
  readonly rank: number
  /**
   * Version of the decoder, from 1. Raise it when the same bytes are decoded differently: all rows are then read again.
   */
  readonly decoder: number
  /** The folder, and the files in it, whose changes trigger a pass over this source. */
  readonly folder: string
  readonly files: readonly string[]
  /** Polled every second, even if it has not changed for a long time. */
  readonly isAlwaysWarm: boolean
  /**
   * The file's state from `stat` alone; null if it does not exist. If two signatures are equal, there is nothing to
   * read.
   */
  signature(): string | null
  pass(mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd>
  /** Its state now, and the rows that this version does not know. Reads no value. */
  look?(): StoreLook
  /** The chats with messages in another file of the same format, such as a backup, apart from what is known. */
  readonly chatsIn?: (path: string, known: KnownChats) => ChatsIn
}

/** What need not be looked for in another file: what the mirror has, and what must stay out of it. */
export interface KnownChats {
  hasChat(id: ChatId): boolean
  hasMessage(chatId: ChatId, id: MessageId): boolean
}

export interface ChatsIn {
  readonly ids: readonly ChatId[]
  /** Why the file could not be read, or not to its end; null if it could. */
  readonly trouble: ClosedFile | null
}

/**
 * Runs a pass of a source. If an older decoder read the source, all its rows count as changed and are compared one by
 * one.
 */
export function passSource(source: Source, mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd> {
  const isOutdated = noteDecoder(mirror, sourceNum(mirror, source), source.decoder)
  const depth = isOutdated && !isAtLeast(request.depth, 'reconcile') ? 'reconcile' : request.depth
  return source.pass(mirror, { ...request, depth })
}
