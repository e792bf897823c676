import { findRuns, openRun, readRun } from '../../api/archives/open-run.ts'
import { AllRuns, type Round } from '../../api/archives/read-all-runs.ts'
import { restoreChats } from '../../indexer/sources/archive/index.ts'
import { urisOf } from '../../indexer/sources/archive/decode.ts'
import { readMap, type FolderMapping } from '../../indexer/sources/archive/map-uri.ts'
import { placeByPaths } from '../../mirror/write/chats/chat-paths.ts'
import type { BatchOutcome } from '../../mirror/write/batch.ts'
import type { Mirror } from '../../mirror/open.ts'
import { takeArchiveLock } from '../archive-act.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult } from './restore-orders.ts'
import { RestoreTally } from './restore-tally.ts'

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
 * Reads a run of an archive, or all of them, back into the mirror, in whatever process writes it. Yields after each
 * bounded step.
 * @throws UserError `archive-not-found`, `archive-busy`, `bad-map`; SqliteError of the mirror
 */
export async function* restoreAct(
  { dir, isOwn, name, map }: RestoreOrder,
  hands: RestoreHands,
): AsyncGenerator<RestoreNews, RestoreResult> {
  const mapping = readMap(map)
  // A folder that was brought from elsewhere is only read.
  const lock = isOwn ? takeArchiveLock(dir) : null
  try {
    return yield* restoreRounds(name === null ? readAll(dir) : readOne(dir, name), hands, mapping)
  } finally {
    lock?.release()
  }
}

interface Reading {
  /** Of the run, or of the newest of them. */
  readonly name: string
  readonly runs: number
  readonly rounds: AsyncIterable<Round>
  /** What is wrong with manifests; known when all rounds were read. */
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
  hands: RestoreHands,
  mapping: FolderMapping,
): AsyncGenerator<RestoreNews, RestoreResult> {
  const tally = new RestoreTally()
  const chats = async function* (round: Round) {
    for await (const read of round) {
      tally.at(read)
      // Of a chat that is held already nothing is mapped, and yet the map is right.
      if (read.chat.kind === 'sound') urisOf(read.chat.chat).forEach(mapping.mapUri)
      yield read.chat
    }
  }
  for await (const round of rounds) {
    for await (const step of restoreChats({ ...hands, mapUri: mapping.mapUri }, chats(round))) {
      tally.add(step)
      yield { ...tally.progress, outcome: step.outcome }
    }
    yield { ...tally.progress, outcome: null }
  }
  if (tally.touched.size > 0) placeByPaths(hands.mirror(), tally.touched)
  return { name, runs, why: why(), ...tally.told, unusedMaps: mapping.unused() }
}
