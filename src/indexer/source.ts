import type { BatchOutcome } from '../mirror/write/batch.ts'
import type { Mirror } from '../mirror/open.ts'
import type { SourceId } from '../model/ids.ts'
import type { SourceState } from '../model/source.ts'
import { sourceNum, noteDecoder } from '../mirror/sources/source-state.ts'
import type { Survey } from './survey.ts'

/**
 * How thorough a pass is. `nudge`: what is new, cheaply, whatever the store's size; nothing at all where the file is as
 * it was. `sweep`: the next few megabytes of a comparison of every value. `recent`: the values of chats active within a
 * day compared. `count`: that, and rows counted, and every key compared where the numbers differ. `reconcile`: every key
 * compared. `full`: every value compared at once.
 */
export const passDepths = ['nudge', 'sweep', 'recent', 'count', 'reconcile', 'full'] as const
export type PassDepth = (typeof passDepths)[number]

export const isAtLeast = (depth: PassDepth, least: PassDepth): boolean =>
  passDepths.indexOf(depth) >= passDepths.indexOf(least)

/** More rows than this, and more than this share of what the source held: an accident is as likely as a deletion. */
export interface MassRule {
  readonly rows: number
  readonly share: number
}

export interface PassRequest {
  readonly depth: PassDepth
  readonly now: () => number
  /** When so much vanished that it is not believed at once; what `mass-loss.ts` says where left out. */
  readonly mass?: MassRule
}

/** What a running pass tells after each bounded step. */
export interface PassStep {
  readonly done: number
  readonly total: number
  /** Bytes read from the source by this step. */
  readonly bytesRead: number
  /** The longest time a read transaction on the source was open. */
  readonly longestReadMs: number
  readonly outcome: BatchOutcome | null
  /** How many messages wait for their full-text rows, where this step worked on those; null where it read. */
  readonly backlog: number | null
}

/** The first messages of a pass, the newest, are found at once; what comes beyond can be read, and is found later. */
export const INDEXED_AT_ONCE = 1000

/** A step that read from a source and wrote nothing. */
export const readingStep = { done: 0, total: 0, bytesRead: 0, longestReadMs: 0, outcome: null, backlog: null } as const

/** How a pass ended. `state` other than `ok`: the source could not be read, what is held stays. */
export interface PassEnd {
  readonly state: SourceState
  readonly detail: string | null
  /** When to pass again without a change of the file, and how deep. */
  readonly again: readonly Again[]
}

export interface Again {
  readonly depth: PassDepth
  readonly inMs: number
}

/** What a cheap pass left to a count: rows are counted once a minute at most. */
export const countLater: Again = { depth: 'count', inMs: 60_000 }

/**
 * One store of Cursor's. An adapter knows its format; nothing of the format leaves it.
 * A pass is a generator: it opens the store, works in bounded steps, and holds no handle once it ended.
 */
export interface Source {
  readonly id: SourceId
  readonly kind: string
  readonly path: string
  /** Where several sources hold a chat, the least of these decides: 0 is the fullest. */
  readonly rank: number
  /** Version of the decoder, from 1. Raise it when the same bytes yield something else: the source is then read anew. */
  readonly decoder: number
  /** The folder and the files in it whose changes are a reason to look at this source again. */
  readonly folder: string
  readonly files: readonly string[]
  /** Looked at every second even when it has not changed for long. */
  readonly isAlwaysWarm: boolean
  /** The file's state by `stat` alone, null while it does not exist. Equal signatures: nothing to read. */
  signature(): string | null
  pass(mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd>
  /** Looks at all that the store holds, known or not, or at what another file of its format holds. Writes nothing. */
  survey?(path?: string): Survey
}

/** Runs a pass of a source. One that an older decoder read is compared row by row, for all its rows count as changed. */
export function passSource(source: Source, mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd> {
  const isOutdated = noteDecoder(mirror, sourceNum(mirror, source), source.decoder)
  const depth = isOutdated && !isAtLeast(request.depth, 'reconcile') ? 'reconcile' : request.depth
  return source.pass(mirror, { ...request, depth })
}
