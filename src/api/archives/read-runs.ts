import type { ArchivedObject } from '../../archive/archived-chat.ts'
import type { Decoded } from '../../archive/manifest.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../http/schemas/archives.ts'
import { listObjects, listRunNames, readManifest, readObject, realFolder } from './archive-files.ts'

/** The runs of an archive folder that are restored, which may come from another machine. */
export interface ChosenRuns {
  readonly dir: string
  /** Newest first; at least one. */
  readonly names: readonly string[]
}

const WHICH_FOLDER =
  'Make one with: cursordex archive run. Or name with --from the folder that contains the folders runs and objects.'

/** @param name of one run; null for all  @throws UserError `archive-not-found`; NodeJS.ErrnoException */
export function chooseRuns(given: string, name: string | null): ChosenRuns {
  const dir = realFolder(given)
  const names = listRunNames(dir).toReversed()
  if (name !== null && names.includes(name)) return { dir, names: [name] }
  if (name === null && names.length > 0) return { dir, names }
  if (names.length === 0) throw new UserError('archive-not-found', `There is no archive in ${given}.`, WHICH_FOLDER)
  const some = `There are ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`
  throw new UserError('archive-not-found', `${given} holds no archive of the name ${name}.`, some)
}

/** A chat that was read. `id` is null if it is unknown. */
export interface ReadChat extends Progress {
  readonly id: string | null
  readonly read: Decoded<ArchivedObject>
}

/** How many damaged manifests are reported in detail. */
const TOLD_MAX = 3

/**
 * Of each chat, and each mirror that archived it, the state in the newest run in which it is undamaged. A newer one that is
 * damaged is reported too. If a manifest is damaged, then also every object that no other manifest names.
 * @returns what is wrong with manifests; null if nothing is
 */
export function* readRuns({ dir, names }: ChosenRuns): Generator<ReadChat, string | null> {
  const damaged: string[] = []
  /** The objects of each chat, the newest first. */
  const chats = new Map<string, { readonly id: string; readonly objects: Set<string> }>()
  for (const name of names) {
    const manifest = readManifest(dir, name)
    if (manifest.kind === 'damaged') damaged.push(names.length === 1 ? manifest.why : `${name}: ${manifest.why}`)
    else {
      for (const { id, object } of manifest.value.chats) {
        const key = JSON.stringify([manifest.value.origin, id])
        const chat = chats.get(key) ?? { id, objects: new Set() }
        chats.set(key, { id, objects: chat.objects.add(object) })
      }
    }
  }
  let done = 0
  for (const { id, objects } of chats.values()) {
    done += 1
    for (const object of objects) {
      const read = readChat(dir, object, id)
      yield { id, read, done, total: chats.size }
      if (read.kind === 'sound') break
    }
  }
  if (damaged.length === 0) return null
  const named = new Set([...chats.values()].flatMap(({ objects }) => [...objects]))
  const unnamed = listObjects(dir).filter((object) => !named.has(object))
  for (const object of unnamed) {
    done += 1
    yield { id: null, read: readObject(dir, object), done, total: chats.size + unnamed.length }
  }
  const more = damaged.length - TOLD_MAX
  return `${damaged.slice(0, TOLD_MAX).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function readChat(dir: string, object: string, id: string): Decoded<ArchivedObject> {
  const read = readObject(dir, object)
  if (read.kind === 'damaged' || read.value.chat.id === id) return read
  return { kind: 'damaged', why: 'it is not the chat that its manifest names' }
}
