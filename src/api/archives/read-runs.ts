import type { ArchivedObject } from '../../archive/archived-chat.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { asChatId, type ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import { listObjects, listRunNames, readManifest, readObject, realFolder } from './archive-files.ts'

/** What a restore reads of an archive folder, which may come from another machine. */
export interface ChosenChats {
  readonly dir: string
  /** Names of the runs, newest first; at least one. */
  readonly names: readonly string[]
  /**
   * The objects of each chat, and of each mirror that archived it, the newest first. If a manifest is damaged, then also
   * every object that no other manifest names, without its id.
   */
  readonly chats: readonly ChosenChat[]
  /** What is wrong with manifests; null if nothing is. */
  readonly damage: string | null
}

export interface ChosenChat {
  /** Null if no manifest names it. */
  readonly id: ChatId | null
  /** Of the newest run with the chat. */
  readonly entry: ChatEntry | null
  readonly objects: ReadonlySet<string>
}

const WHICH_FOLDER =
  'Make one with: cursordex archive run. Or name with --from the folder that contains the folders runs and objects.'

/** @param name of one run; null for all  @throws UserError `archive-not-found`; NodeJS.ErrnoException */
export function chooseChats(given: string, name: string | null): ChosenChats {
  const dir = realFolder(given)
  const names = listRunNames(dir)
    .filter((each) => name === null || each === name)
    .toReversed()
  if (names.length === 0) {
    const text = `There is no archive in ${given}${name === null ? '' : ` of the name ${name}`}.`
    throw new UserError('archive-not-found', text, WHICH_FOLDER, { status: 404 })
  }
  const damaged: string[] = []
  const chats = new Map<string, ChosenChat & { readonly objects: Set<string> }>()
  for (const each of names) {
    const manifest = readManifest(dir, each)
    if (manifest.kind === 'damaged') damaged.push(names.length === 1 ? manifest.why : `${each}: ${manifest.why}`)
    if (manifest.kind === 'damaged') continue
    for (const entry of manifest.value.chats) {
      const { id, object } = entry
      const key = JSON.stringify([manifest.value.origin, id])
      const chat = chats.get(key) ?? { id: asChatId(id), entry, objects: new Set() }
      chats.set(key, { ...chat, objects: chat.objects.add(object) })
    }
  }
  const named = new Set([...chats.values()].flatMap(({ objects }) => [...objects]))
  const unnamed = damaged.length === 0 ? [] : listObjects(dir).filter((object) => !named.has(object))
  return {
    dir,
    names,
    chats: [...chats.values(), ...unnamed.map((object) => ({ id: null, entry: null, objects: new Set([object]) }))],
    damage: damaged.length === 0 ? null : damaged.join('; '),
  }
}

/** Null if the object is damaged, or another chat than its manifest names. @param id null if no manifest names it */
export function readChat(dir: string, object: string, id: string | null): ArchivedObject | null {
  const read = readObject(dir, object)
  return read.kind === 'sound' && (id === null || read.value.chat.id === id) ? read.value : null
}
