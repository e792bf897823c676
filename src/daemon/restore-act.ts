import { openRun, readRun, type OpenRun } from '../api/archives/open-run.ts'
import { restoreChats, type RestoreStep } from '../indexer/sources/archive/index.ts'
import { urisOf } from '../indexer/sources/archive/decode.ts'
import { readMap, type FolderMapping } from '../indexer/sources/archive/map-uri.ts'
import { placeByPaths } from '../mirror/chat-paths.ts'
import type { BatchOutcome } from '../mirror/batch.ts'
import type { Mirror } from '../mirror/open.ts'
import type { ChatId } from '../model/ids.ts'
import { takeArchiveLock } from './archive-act.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult } from './restore-orders.ts'

export interface RestoreNews extends RestoreProgress {
  readonly outcome: BatchOutcome | null
}

export interface RestoreHands {
  /** The one that writes. @throws where there is nothing to write to any more */
  mirror(): Mirror
  /** Epoch milliseconds. */
  now(): number
}

/**
 * Reads a run of an archive back into the mirror, in whatever process writes it. Yields after each bounded step.
 * @throws Trouble `archive-not-found`, `archive-busy`, `bad-map`; SqliteError of the mirror
 */
export async function* restoreAct(
  { dir, isOwn, name, map }: RestoreOrder,
  hands: RestoreHands,
): AsyncGenerator<RestoreNews, RestoreResult> {
  const mapping = readMap(map)
  // A folder that was brought from elsewhere is only read.
  const lock = isOwn ? takeArchiveLock(dir) : null
  try {
    const run = openRun(dir, name)
    return yield* restoreRun(run, hands, mapping)
  } finally {
    lock?.release()
  }
}

async function* restoreRun(
  run: OpenRun,
  hands: RestoreHands,
  mapping: FolderMapping,
): AsyncGenerator<RestoreNews, RestoreResult> {
  let progress: RestoreProgress = { done: 0, total: run.entries?.length ?? 0 }
  const chats = async function* () {
    for await (const { chat, done, total } of readRun(run)) {
      progress = { done, total }
      // Of a chat that is held already nothing is mapped, and yet the map is right.
      if (chat.kind === 'sound') urisOf(chat.chat).forEach(mapping.mapUri)
      yield chat
    }
  }
  const sum = { chats: 0, messages: 0, added: 0, addedChats: 0 }
  const damaged: RestoreStep['damaged'][number][] = []
  const touched = new Set<ChatId>()
  for await (const step of restoreChats({ ...hands, mapUri: mapping.mapUri }, chats())) {
    sum.chats += step.chats
    sum.messages += step.messages
    sum.added += step.outcome?.added ?? 0
    sum.addedChats += step.addedChats
    damaged.push(...step.damaged)
    for (const id of step.outcome?.chatIds ?? []) touched.add(id)
    yield { ...progress, outcome: step.outcome }
  }
  if (touched.size > 0) placeByPaths(hands.mirror(), touched)
  const named = damaged.map(({ id, why }) => ({ id, why }))
  return { name: run.name, why: run.why, ...sum, damaged: named, unusedMaps: mapping.unused() }
}
