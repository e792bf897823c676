import { chooseRuns, readRuns, type ReadChat } from '../api/archives/read-runs.ts'
import type { Progress } from '../api/http/schemas/archives.ts'
import type { DamagedChat, ProvenChat } from '../archive/record.ts'
import { urisOf } from '../indexer/sources/archive/decode.ts'
import { isListed, restoreChats, type RestoreStep as ChatStep } from '../indexer/sources/archive/index.ts'
import { readMap, type FolderMap, type FolderMapping } from '../indexer/sources/archive/map-uri.ts'
import type { Mirror } from '../mirror/open.ts'
import type { BatchOutcome } from '../mirror/write/batch.ts'
import { placeByPaths } from '../mirror/write/chats/chat-paths.ts'
import type { ChatId } from '../model/ids.ts'
import { takeArchiveLock } from './archives/archive-job.ts'

export interface RestoreOrder {
  /** The archive folder. */
  readonly dir: string
  /** True if this program archives into the folder. The folder is then locked during the restore. */
  readonly isOwn: boolean
  /** The name of a run. Null restores everything that any run of the folder names. */
  readonly name: string | null
  readonly map: FolderMap
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
  /** Chats that were skipped. `id` is null if it is unknown. */
  readonly damaged: readonly Omit<DamagedChat, 'kind'>[]
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
    const chosen = chooseRuns(dir, name)
    const tally = new RestoreTally()
    const steps = restoreChats({ ...context, mapUri: mapping.mapUri }, tally.counted(readRuns(chosen), mapping))
    for await (const step of steps) {
      tally.add(step)
      yield { ...tally.progress, outcome: step.outcome }
    }
    if (tally.touched.size > 0) placeByPaths(context.mirror(), tally.touched)
    return { name: chosen.names[0] ?? '', runs: chosen.names.length, ...tally.totals, unusedMaps: mapping.unused() }
  } finally {
    lock?.release()
  }
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
  readonly #damaged: Omit<DamagedChat, 'kind'>[] = []
  #why: string | null = null
  #added = 0
  #addedChats = 0

  /** The chats as they are read. The folders of a chat that the mirror already has count as matched too. */
  async *counted(
    chats: AsyncGenerator<ReadChat, string | null>,
    mapping: FolderMapping,
  ): AsyncGenerator<ProvenChat | DamagedChat | null> {
    for (;;) {
      const next = await chats.next()
      if (next.done === true) {
        this.#why = next.value
        return
      }
      const { chat, ...progress } = next.value
      this.progress = progress
      if (chat?.kind === 'sound') urisOf(chat.chat).forEach(mapping.mapUri)
      yield chat
    }
  }

  add({ sound, damaged, addedChats, outcome }: ChatStep): void {
    if (sound !== null) {
      const { chat, places } = sound
      if (isListed(sound)) this.#listed.add(chat.id)
      this.#messages.set(chat.id, Math.max(places.length, this.#messages.get(chat.id) ?? 0))
    }
    if (damaged !== null && (damaged.id === null || !this.#damaged.some(({ id }) => id === damaged.id))) {
      this.#damaged.push({ id: damaged.id, why: damaged.why })
    }
    this.#added += outcome?.added ?? 0
    this.#addedChats += addedChats
    for (const id of outcome?.chatIds ?? []) this.touched.add(id)
  }

  get totals(): Omit<RestoreResult, 'name' | 'runs' | 'unusedMaps'> {
    return {
      why: this.#why,
      chats: this.#listed.size,
      unlisted: this.#messages.size - this.#listed.size,
      messages: [...this.#messages.values()].reduce((sum, count) => sum + count, 0),
      added: this.#added,
      addedChats: this.#addedChats,
      damaged: this.#damaged,
    }
  }
}
