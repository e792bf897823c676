import { chooseRuns, readRuns } from '../api/archives/read-runs.ts'
import type { ArchiveRestored, Progress } from '../api/http/schemas/archives.ts'
import { urisOf } from '../indexer/sources/archive/decode.ts'
import { isListed, restoreChat } from '../indexer/sources/archive/index.ts'
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
  readonly mirror: () => Mirror
  /** Epoch milliseconds. */
  readonly now: () => number
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
    const world = { ...context, mapUri: mapping.mapUri }
    /** Chats that changed. */
    const touched = new Set<ChatId>()
    /** How many messages each undamaged chat has, in its most complete state: several mirrors may have archived it. */
    const found = new Map<string, number>()
    const listed = new Set<string>()
    const damaged = new Set<string>()
    let [added, addedChats] = [0, 0]
    const chats = readRuns(chosen)
    let next = chats.next()
    for (; next.done !== true; next = chats.next()) {
      const { id, read, ...progress } = next.value
      if (read.kind === 'sound') {
        const { chat, messages } = read.value
        if (isListed(read.value)) listed.add(chat.id)
        found.set(chat.id, Math.max(messages.length, found.get(chat.id) ?? 0))
        // The folders of a chat that the mirror already has count as matched too.
        urisOf(chat).forEach(mapping.mapUri)
        const steps = restoreChat(world, read.value, added)
        let step = steps.next()
        for (; step.done !== true; step = steps.next()) {
          added += step.value.added
          for (const each of step.value.chatIds) touched.add(each)
          yield { ...progress, outcome: step.value }
        }
        if (step.value) addedChats += 1
      } else if (id !== null) damaged.add(id)
      yield { ...progress, outcome: null }
    }
    if (touched.size > 0) placeByPaths(context.mirror(), touched)
    return {
      name: chosen.names[0] ?? '',
      runs: chosen.names.length,
      ok: next.value === null && damaged.size === 0,
      chats: listed.size,
      messages: [...found.values()].reduce((sum, count) => sum + count, 0),
      added,
      addedChats,
      damaged: [...damaged],
      manifest: next.value,
      unusedMaps: mapping.unused(),
    }
  } finally {
    lock?.release()
  }
}
