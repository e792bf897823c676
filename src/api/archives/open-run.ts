import { existsSync, realpathSync } from 'node:fs'
import type { ChatEntry } from '../../archive/manifest.ts'
import type { DamagedChat, ProvenChat } from '../../archive/record.ts'
import { UserError } from '../../model/user-error.ts'
import { guessChatId } from './object-files.ts'
import { listRunNames, readManifest } from './manifest-files.ts'
import { saysWhy } from './plain-files.ts'
import { proveChat } from './prove-object.ts'
import { listObjects } from './purge/read-objects.ts'

/** A run that will be restored. */
export interface OpenRun {
  readonly dir: string
  readonly name: string
  /** What is wrong with the manifest, or null. If it is damaged, every sound object in the folder counts as a chat of the run. */
  readonly why: string | null
  /** The chats in the manifest. Null if it is damaged. */
  readonly entries: readonly ChatEntry[] | null
}

/** The runs of an archive folder, newest first; at least one. */
export interface FoundRuns {
  readonly dir: string
  readonly names: readonly string[]
}

/**
 * Finds the runs of an archive folder, which may come from another machine.
 * @throws UserError `archive-not-found`
 */
export function findRuns(given: string): FoundRuns {
  const found = lookInto(given)
  if (found.names.length > 0) return found
  throw new UserError('archive-not-found', `There is no archive in ${given}.`, WHICH_FOLDER)
}

/**
 * Finds a run in an archive folder, and reads its manifest.
 * @throws UserError `archive-not-found`
 */
export function openRun(given: string, name: string): OpenRun {
  const { dir, names } = lookInto(given)
  if (!names.includes(name)) {
    const which =
      names.length === 0
        ? 'There is none.'
        : `There are ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`
    throw new UserError('archive-not-found', `${given} holds no archive of the name ${name}.`, which)
  }
  const read = readManifest(dir, name)
  const said = read.kind === 'sound' ? { why: null, entries: read.value.chats } : { why: read.why, entries: null }
  return { dir, name, ...said }
}

function lookInto(given: string): FoundRuns {
  // The folder itself may be a link, but nothing below it may be one.
  const dir = existsSync(given) ? realpathSync(given) : given
  return { dir, names: namesIn(dir, given).toReversed() }
}

const WHICH_FOLDER = 'Name the folder that contains the folders runs and objects.'

/** Any reason why the folder cannot be read is an error of the user, who named the folder. */
function namesIn(dir: string, given: string): readonly string[] {
  try {
    return listRunNames(dir)
  } catch (error) {
    const cause = error instanceof UserError ? error.cause : error
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : saysWhy(cause)
    const cannot = `${given} cannot be read as an archive folder (${why}).`
    throw new UserError('archive-not-found', cannot, WHICH_FOLDER, { cause: error })
  }
}

export interface ReadChat {
  readonly chat: ProvenChat | DamagedChat
  /** Number of objects read so far, and of all. */
  readonly done: number
  readonly total: number
}

/** The chats of a run, in the order in which they were archived. */
export async function* readRun(run: OpenRun): AsyncGenerator<ReadChat> {
  if (run.entries === null) yield* readObjects(run.dir, listObjects(run.dir))
  const entries = run.entries ?? []
  for (const [index, entry] of entries.entries()) {
    yield { chat: await readEntry(run.dir, entry), done: index + 1, total: entries.length }
  }
}

/** The chat of a manifest entry. */
export async function readEntry(dir: string, entry: ChatEntry): Promise<ProvenChat | DamagedChat> {
  const read = await proveChat(dir, entry.object, entry)
  return read.kind === 'sound' ? read.value : { kind: 'damaged', id: entry.id, why: read.why }
}

interface Candidate {
  readonly object: string
  readonly updatedAt: string
  readonly messages: number
}

/** Reads objects without a manifest. Of several objects of one chat it takes the one with the latest change, then the longest. */
export async function* readObjects(dir: string, given: readonly string[]): AsyncGenerator<ReadChat> {
  const objects = given.toSorted()
  const best = new Map<string, Candidate>()
  const total = objects.length
  for (const object of objects) {
    const read = await proveChat(dir, object, null)
    if (read.kind === 'damaged') {
      yield { chat: { kind: 'damaged', id: guessChatId(dir, object), why: read.why }, done: 0, total }
      continue
    }
    const { chat, places } = read.value
    const candidate = { object, updatedAt: chat.updatedAt ?? '', messages: places.length }
    const rival = best.get(chat.id)
    if (rival === undefined || isLater(candidate, rival)) best.set(chat.id, candidate)
  }
  let done = 0
  for (const { object } of best.values()) {
    done += 1
    const read = await proveChat(dir, object, null)
    if (read.kind === 'sound') yield { chat: read.value, done, total: best.size }
  }
}

const isLater = (one: Candidate, other: Candidate): boolean =>
  one.updatedAt === other.updatedAt ? one.messages > other.messages : one.updatedAt > other.updatedAt
