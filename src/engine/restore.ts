import { chooseRuns, readRuns, type ReadChat } from '../api/archives/read-runs.ts'
import type { ArchiveRestored, Progress } from '../api/http/schemas/archives.ts'
import { urisOf } from '../indexer/sources/archive/decode.ts'
import { isListed, RestoreWriter, type Restored } from '../indexer/sources/archive/index.ts'
import { readMap, type FolderMap } from '../indexer/sources/archive/map-uri.ts'
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

export type RestoreResult = ArchiveRestored

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
): AsyncGenerator<RestoreStep, ArchiveRestored> {
  const mapping = readMap(map)
  // Another folder may be a read-only copy from another machine. Nobody else writes to it.
  const lock = isOwn ? takeArchiveLock(dir) : null
  try {
    const chosen = chooseRuns(dir, name)
    const tally = new RestoreTally()
    const writer = new RestoreWriter({ ...context, mapUri: mapping.mapUri })
    const chats = readRuns(chosen)
    let progress: Progress = { done: 0, total: 0 }
    let next = chats.next()
    for (; next.done !== true; next = chats.next()) {
      const { id, read, ...position } = next.value
      progress = position
      tally.note(id, read)
      if (read.kind === 'sound') {
        // The folders of a chat that the mirror already has count as matched too.
        urisOf(read.value.chat).forEach(mapping.mapUri)
        for (const written of writer.take(read.value)) yield { ...progress, ...tally.add(written) }
      }
      yield { ...progress, outcome: null }
    }
    for (const written of writer.flush()) yield { ...progress, ...tally.add(written) }
    if (tally.touched.size > 0) placeByPaths(context.mirror(), tally.touched)
    const manifest = next.value
    const { damaged, ...counts } = tally.totals
    const ok = manifest === null && damaged.length === 0
    const runs = chosen.names.length
    return { name: chosen.names[0] ?? '', runs, ok, ...counts, damaged, manifest, unusedMaps: mapping.unused() }
  } finally {
    lock?.release()
  }
}

/** What a restore has done so far. A chat that was read in several states, archived from several mirrors, counts once. */
class RestoreTally {
  /** Chats that changed. */
  readonly touched = new Set<ChatId>()
  /** How many messages each undamaged chat has, in its most complete state. */
  readonly #messages = new Map<string, number>()
  /** Those of them that lists show. */
  readonly #listed = new Set<string>()
  readonly #damaged = new Set<string>()
  #added = 0
  #addedChats = 0

  note(id: string | null, read: ReadChat['read']): void {
    if (read.kind === 'damaged') this.#damaged.add(id ?? '')
    else {
      const { chat, messages } = read.value
      if (isListed(read.value)) this.#listed.add(chat.id)
      this.#messages.set(chat.id, Math.max(messages.length, this.#messages.get(chat.id) ?? 0))
    }
  }

  add({ outcome, addedChats }: Restored): { readonly outcome: BatchOutcome } {
    this.#added += outcome.added
    this.#addedChats += addedChats
    for (const id of outcome.chatIds) this.touched.add(id)
    return { outcome }
  }

  get totals() {
    return {
      chats: this.#listed.size,
      messages: [...this.#messages.values()].reduce((sum, count) => sum + count, 0),
      added: this.#added,
      addedChats: this.#addedChats,
      // The id of a damaged object that no manifest names is unknown.
      damaged: [...this.#damaged].filter((id) => id !== ''),
    }
  }
}
