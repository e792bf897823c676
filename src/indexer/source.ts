import { hash as digest } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Mirror } from '../mirror/open.ts'
import * as held from '../mirror/sources/sources.ts'
import type { Written } from '../model/change.ts'
import { asSourceId, type SourceId } from '../model/ids.ts'
import type { Again, MassRule, PassEnd, PassOrder, PendingLoss } from '../model/pass.ts'
import {
  endedBy,
  type ClosedFile,
  fileSignature,
  filesOf,
  openCursorFile,
  type OpenFile,
} from './open-safely/cursor-file.ts'
import type { StoreLook } from './sources/composer-kv/read.ts'

/** What a running pass reports after each bounded step. */
export interface PassStep {
  readonly done: number
  readonly total: number
  /** Bytes read from the source by this step. */
  readonly bytesRead: number
  /** The longest time for which a read transaction on the source was open. */
  readonly longestReadMs: number
  readonly outcome: Written | null
  /**
   * How many messages wait for their full-text rows, if this step indexed messages. Null if the step read from a
   * source.
   */
  readonly backlog: number | null
}

/**
 * Ends a step of a pass: reports it, and lets other work run. It throws if the pass shall stop, so a pass awaits it
 * between two transactions.
 */
export type Turn = (step?: Partial<PassStep>) => Promise<void>

export interface PassRequest extends Pick<PassOrder, 'depth' | 'isAsked'> {
  readonly turn: Turn
  readonly now: () => number
  /** How many missing rows count as a mass loss. The default is `massRule`. */
  readonly mass?: MassRule
}

/** The first messages of a pass, which are the newest, are urgent for the index. */
export const URGENT_MAX = 1000

/** What a pass of a source returns if it read the source to its end. */
export interface PassDone {
  /** False if the source is unchanged and was not read. */
  readonly isRead: boolean
  readonly again: readonly Again[]
}

export const read: PassDone = { isRead: true, again: [] }
export const unchanged: PassDone = { isRead: false, again: [] }

/** A value can change without any trace in sizes and times, so a cheap pass leaves a comparison to a later one. */
export const compareLater: readonly Again[] = [{ depth: 'keys', inMs: 60_000 }]

/**
 * One store of Cursor's. An adapter knows its format, and nothing of the format leaves the adapter.
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
  /** True if it reads only what messages of another source in the same file refer to, whatever its signature. */
  readonly readsReferences?: boolean
  /** How often a cheap pass reads a source that is not urgent, in milliseconds; by default whenever it changed. */
  readonly everyMs?: number
  /**
   * The file's state from `stat` alone; null if it does not exist. If two signatures are equal, there is nothing to
   * read.
   */
  signature(): string | null
  /**
   * Opens the store, works in bounded steps with a `turn` after each, and has closed every handle when it ends.
   * @param num the source's number in the mirror
   * @throws Error if the store cannot be read, or not to its end
   */
  pass(mirror: Mirror, num: number, request: PassRequest): Promise<PassDone | ClosedFile>
  /** Its state now, and the rows that this version does not know. Reads no value. */
  look?(): StoreLook
}

const sourceId = (kind: string, path: string): SourceId => asSourceId(digest('sha256', `${kind} ${path}`).slice(0, 16))

/**
 * What a cheap pass does instead of reading; null if it reads. It reads nothing if the source is as it was when it was
 * last read, and a source that is not urgent only now and then.
 */
export function skipped(
  mirror: Mirror,
  num: number,
  { depth, now }: PassRequest,
  signature: string | null,
  everyMs = 0,
): PassDone | null {
  if (depth !== 'tail' || signature === null) return null
  const { signature: known, countedAtMs } = held.readPosition(mirror, num)
  if (signature === known) return unchanged
  const sinceMs = now() - (countedAtMs ?? -Infinity)
  return sinceMs < 0 || sinceMs >= everyMs
    ? null
    : { isRead: false, again: [{ depth: 'keys', inMs: everyMs - sinceMs }] }
}

/**
 * Runs a pass of a source, and notes how it ended. If an older decoder read the source, all its rows count as changed and
 * are compared one by one. Errors of the mirror are thrown.
 */
export async function passSource(source: Source, mirror: Mirror, request: PassRequest): Promise<PassEnd> {
  const num = held.sourceNum(mirror, source)
  const isOutdated = held.noteDecoder(mirror, num, source.decoder)
  const depth = isOutdated && request.depth === 'tail' ? 'keys' : request.depth
  const end = await source.pass(mirror, num, { ...request, depth }).catch(endedBy)
  if ('state' in end) {
    held.saveSourceState(mirror, { num, state: end.state, detail: end.detail, syncedAtMs: null })
    return { state: end.state, detail: end.detail, again: [] }
  }
  held.saveSourceState(mirror, { num, state: 'ok', detail: null, syncedAtMs: end.isRead ? request.now() : null })
  return { state: 'ok', detail: null, again: end.again }
}

/** What sources of one database of Cursor's have in common. */
export const ofDatabase = (facts: Pick<Source, 'kind' | 'path' | 'rank' | 'decoder' | 'isAlwaysWarm'>) => ({
  ...facts,
  id: sourceId(facts.kind, facts.path),
  folder: dirname(facts.path),
  files: filesOf(facts.path),
  signature: (): string | null => fileSignature(facts.path),
})

/** What sources of a folder with a file or a folder for each chat have in common: `signature` shows what is new inside. */
export const ofFolder = (facts: Pick<Source, 'kind' | 'folder' | 'rank' | 'decoder'>) => ({
  ...facts,
  id: sourceId(facts.kind, facts.folder),
  path: facts.folder,
  files: [],
  isAlwaysWarm: false,
})

/** Reads a database, and closes it however that ends. */
export async function whileOpen<End>(path: string, use: (file: OpenFile) => Promise<End>): Promise<End | ClosedFile> {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return file
  try {
    return await use(file)
  } finally {
    file.close()
  }
}

/** Stands for a folder that may not be listed: the stores in it are not read, which is not the same as absent. */
export const closedFolder = (kind: string, folder: string, rank: number): Source => ({
  ...ofFolder({ kind, folder, rank, decoder: 1 }),
  // Both fail like the listing did: then the state of the source is `unreadable`.
  signature: () => readdirSync(folder).join('/'),
  async pass() {
    readdirSync(folder)
    return read
  },
})

export const massRule: MassRule = { rows: 100, share: 0.2 }

/** After a mass loss, rows count as gone if they are still missing after this time. */
const CONFIRM_AFTER_MS = 60_000

/**
 * Decides which of the missing rows are gone. A store may be swapped, emptied or restored while we run. If very many
 * rows vanish at once, they are noted as missed and still count as held, until a comparison a minute later, or one that a
 * person asked for, misses them again.
 * @param missing all rows of the mirror that a comparison of all keys did not find
 * @param backKeys rows that were missing before and are present again
 */
export function judgeMissing(
  mirror: Mirror,
  source: number,
  { missing, backKeys }: { readonly missing: readonly held.HeldRow[]; readonly backKeys: readonly string[] },
  { isAsked, now, mass = massRule }: Pick<PassRequest, 'isAsked' | 'now' | 'mass'>,
): ReadonlySet<string> {
  held.markMissed(mirror, source, backKeys, null)
  if (isAsked === true) return new Set(missing.map(({ key }) => key))
  const nowMs = now()
  const open = missing.filter(({ missedAtMs }) => missedAtMs === null || nowMs < confirmableAtMs(missedAtMs, nowMs))
  const isMass = open.length > mass.rows && open.length > mass.share * held.countHeldRows(mirror, source)
  const waiting = isMass ? open : open.filter(({ missedAtMs }) => missedAtMs !== null)
  const fresh = waiting.filter(({ missedAtMs }) => missedAtMs === null).map(({ key }) => key)
  held.markMissed(mirror, source, fresh, nowMs)
  const waitingKeys = new Set(waiting.map(({ key }) => key))
  return new Set(missing.flatMap(({ key }) => (waitingKeys.has(key) ? [] : [key])))
}

/** If the clock was set back, rows must not wait longer. */
const confirmableAtMs = (missedAtMs: number, nowMs: number): number => Math.min(missedAtMs, nowMs) + CONFIRM_AFTER_MS

export function readPendingLoss(mirror: Mirror, source: number, nowMs: number): PendingLoss | null {
  const missed = held.readMissed(mirror, { source })
  if (missed === undefined) return null
  return { rows: missed.rows, of: missed.of, confirmableAtMs: confirmableAtMs(missed.sinceMs, nowMs) }
}
