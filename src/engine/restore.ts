import { findRuns, openRun, readRun, type ReadChat } from '../api/archives/open-run.ts'
import type { Progress } from '../api/http/schemas/archives.ts'
import { AllRuns, type Round } from '../api/archives/read-all-runs.ts'
import { isListed, restoreChats, type RestoreStep as ChatStep } from '../indexer/sources/archive/index.ts'
import { urisOf } from '../indexer/sources/archive/decode.ts'
import { readMap, type FolderMap, type FolderMapping } from '../indexer/sources/archive/map-uri.ts'
import { placeByPaths } from '../mirror/write/chats/chat-paths.ts'
import type { BatchOutcome } from '../mirror/write/batch.ts'
import type { Mirror } from '../mirror/open.ts'
import type { ChatId } from '../model/ids.ts'
import { takeArchiveLock } from './archives/archive-lock.ts'

export interface RestoreOrder {
  /** The archive folder. */
  readonly dir: string
  /** True if this program archives into the folder. The folder is then locked during the restore. */
  readonly isOwn: boolean
  /** The name of a run. Null restores everything that any run of the folder names. */
  readonly name: string | null
  readonly map: FolderMap
}

/** A damaged chat, which was skipped. `id` is null if the id is unreadable too. */
export interface RestoreDamage {
  readonly id: string | null
  readonly why: string
}

export interface RestoreResult {
  /** The run that was read, or the newest of them. */
  readonly name: string
  /** How many runs were read. */
  readonly runs: number
  /** What is wrong with manifests. Null if they are sound. */
  readonly why: string | null
  /** Undamaged chats, subagents, drafts and empty chats, and the messages of all, new or not. */
  readonly chats: number
  readonly unlisted: number
  readonly messages: number
  /** Messages and chats that the mirror did not have. */
  readonly added: number
  readonly addedChats: number
  readonly damaged: readonly RestoreDamage[]
  /** Folders of the map that matched no chat of the archive. */
  readonly unusedMaps: readonly string[]
}

export interface RestoreStep extends Progress {
  readonly outcome: BatchOutcome | null
}

interface RestoreContext {
  /** The writing connection. @throws UserError `stopped` if it was closed */
  mirror(): Mirror
  /** Epoch milliseconds. */
  now(): number
}

/**
 * Reads a run of an archive, or all of them, back into the mirror. Yields after each bounded step.
 * @throws UserError `archive-not-found`, `archive-busy`, `bad-map`; SqliteError of the mirror
 */
export async function* restore(
  { dir, isOwn, name, map }: RestoreOrder,
  context: RestoreContext,
): AsyncGenerator<RestoreStep, RestoreResult> {
  const mapping = readMap(map)
  // Another folder may be a read-only copy from another machine. Nobody else writes to it.
  const lock = isOwn ? takeArchiveLock(dir) : null
  try {
    return yield* restoreRounds(name === null ? readAll(dir) : readOne(dir, name), context, mapping)
  } finally {
    lock?.release()
  }
}

interface Reading {
  /** The run that is read, or the newest of them. */
  readonly name: string
  readonly runs: number
  readonly rounds: AsyncIterable<Round>
  /** What is wrong with manifests. Known after all rounds were read. */
  readonly why: () => string | null
}

function readOne(dir: string, name: string): Reading {
  const run = openRun(dir, name)
  const rounds = async function* () {
    yield readRun(run)
  }
  return { name, runs: 1, rounds: rounds(), why: () => run.why }
}

function readAll(dir: string): Reading {
  const found = findRuns(dir)
  const all = new AllRuns(found)
  return { name: found.names[0] ?? '', runs: found.names.length, rounds: all.rounds(), why: () => all.why }
}

async function* restoreRounds(
  { name, runs, rounds, why }: Reading,
  context: RestoreContext,
  mapping: FolderMapping,
): AsyncGenerator<RestoreStep, RestoreResult> {
  const tally = new RestoreTally()
  const chats = async function* (round: Round) {
    for await (const read of round) {
      tally.begin(read)
      // The folders of a chat that the mirror already has count as matched too.
      if (read.chat.kind === 'sound') urisOf(read.chat.chat).forEach(mapping.mapUri)
      yield read.chat
    }
  }
  for await (const round of rounds) {
    for await (const step of restoreChats({ ...context, mapUri: mapping.mapUri }, chats(round))) {
      tally.add(step)
      yield { ...tally.progress, outcome: step.outcome }
    }
    yield { ...tally.progress, outcome: null }
  }
  if (tally.touched.size > 0) placeByPaths(context.mirror(), tally.touched)
  return { name, runs, why: why(), ...tally.totals, unusedMaps: mapping.unused() }
}

/** What a restore has done so far. A chat that was read in several states, archived from several mirrors, counts once. */
class RestoreTally {
  /** Chats that changed. */
  readonly touched = new Set<ChatId>()
  progress: Progress = { done: 0, total: 0 }
  /** How many messages each undamaged chat has, in its most complete state. */
  readonly #messages = new Map<string, number>()
  /** Those of them that lists show. */
  readonly #listed = new Set<string>()
  readonly #damaged: RestoreDamage[] = []
  readonly #named = new Set<string>()
  #added = 0
  #addedChats = 0
  #last: ReadChat['chat'] | null = null

  /** Starts the next chat. */
  begin({ chat, done, total }: ReadChat): void {
    this.progress = { done, total }
    this.#last = chat
  }

  add({ chats, messages, addedChats, damaged, outcome }: ChatStep): void {
    if (chats > 0 && this.#last?.kind === 'sound') {
      const { id } = this.#last.chat
      if (isListed(this.#last)) this.#listed.add(id)
      this.#messages.set(id, Math.max(messages, this.#messages.get(id) ?? 0))
    }
    this.#added += outcome?.added ?? 0
    this.#addedChats += addedChats
    for (const { id, why } of damaged) {
      if (id === null || !this.#named.has(id)) this.#damaged.push({ id, why })
      if (id !== null) this.#named.add(id)
    }
    for (const id of outcome?.chatIds ?? []) this.touched.add(id)
  }

  get totals(): Pick<RestoreResult, 'chats' | 'unlisted' | 'messages' | 'added' | 'addedChats' | 'damaged'> {
    return {
      chats: this.#listed.size,
      unlisted: this.#messages.size - this.#listed.size,
      messages: [...this.#messages.values()].reduce((sum, count) => sum + count, 0),
      added: this.#added,
      addedChats: this.#addedChats,
      damaged: this.#damaged,
    }
  }
}
