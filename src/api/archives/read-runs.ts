import { isNewer } from '../../archive/manifest.ts'
import type { DamagedChat, ProvenChat } from '../../archive/record.ts'
import { UserError } from '../../model/user-error.ts'
import { listObjects, realFolder, saysWhy } from './archive-files.ts'
import { listRunNames, readManifest } from './manifest-files.ts'
import { proveChat, sumOf } from './prove-object.ts'

/** The runs of an archive folder that are restored, which may come from another machine. */
export interface ChosenRuns {
  readonly dir: string
  /** Newest first; at least one. */
  readonly names: readonly string[]
}

const WHICH_FOLDER =
  'Make one with: cursordex archive run. Or name with --from the folder that contains the folders runs and objects.'

/** @param name of one run; null for all  @throws UserError `archive-not-found` */
export function chooseRuns(given: string, name: string | null): ChosenRuns {
  const dir = realFolder(given)
  const names = namesIn(dir, given).toReversed()
  if (names.length === 0 && name === null) {
    throw new UserError('archive-not-found', `There is no archive in ${given}.`, WHICH_FOLDER)
  }
  if (name === null) return { dir, names }
  if (names.includes(name)) return { dir, names: [name] }
  const some = `There are ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`
  const hint = names.length === 0 ? 'There is none.' : some
  throw new UserError('archive-not-found', `${given} holds no archive of the name ${name}.`, hint)
}

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

/** A chat that was read, or null after another manifest, so that other work gets a turn. */
export interface ReadChat {
  readonly chat: ProvenChat | DamagedChat | null
  /** Number of chats read so far, and of all. */
  readonly done: number
  readonly total: number
}

/** One state of a chat in the archive. */
interface State {
  readonly id: string
  readonly object: string
  readonly revision: number
  /** `sumOf` its entry. */
  readonly sum: string
}

/** How many damaged manifests are reported in detail. */
const TOLD_MAX = 3

/**
 * Of each chat, and each mirror that archived it, the newest state that is undamaged. A newer one that is damaged is
 * reported too. If a manifest is damaged, then also every object that no other manifest names.
 * @returns what is wrong with manifests; null if nothing is
 */
export async function* readRuns({ dir, names }: ChosenRuns): AsyncGenerator<ReadChat, string | null> {
  const chats = new Map<string, State[]>()
  const damaged: string[] = []
  for (const name of names) {
    const manifest = readManifest(dir, name)
    yield { chat: null, done: 0, total: chats.size }
    if (manifest.kind === 'damaged') {
      damaged.push(names.length === 1 ? manifest.why : `${name}: ${manifest.why}`)
      continue
    }
    for (const entry of manifest.value.chats) {
      const { id, object, revision } = entry
      const key = JSON.stringify([manifest.value.origin, id])
      const state = { id, object, revision, sum: sumOf(entry) }
      const states = chats.get(key) ?? []
      if (!states.some((other) => other.object === object && other.sum === state.sum)) states.push(state)
      chats.set(key, states)
    }
  }
  let done = 0
  for (const states of chats.values()) {
    done += 1
    // The revisions of one mirror are in order, whatever its clock was. Of equal ones the newest run's is taken.
    states.sort(
      (one, other) => Number(isNewer(other.revision, one.revision)) - Number(isNewer(one.revision, other.revision)),
    )
    for (const { id, object, sum } of states) {
      const read = await proveChat(dir, object, sum)
      const chat = read.kind === 'sound' ? read.value : ({ ...read, id } as const)
      yield { chat, done, total: chats.size }
      if (chat.kind === 'sound') break
    }
  }
  if (damaged.length === 0) return null
  const named = new Set([...chats.values()].flatMap((states) => states.map(({ object }) => object)))
  const unnamed = listObjects(dir).filter((object) => !named.has(object))
  for (const object of unnamed) {
    const read = await proveChat(dir, object, null)
    done += 1
    const chat = read.kind === 'sound' ? read.value : ({ ...read, id: null } as const)
    yield { chat, done, total: chats.size + unnamed.length }
  }
  const more = damaged.length - TOLD_MAX
  return `${damaged.slice(0, TOLD_MAX).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
