import type { ArchivedObject } from '../../archive/archived-chat.ts'
import { type ChatEntry, objectPath } from '../../archive/manifest.ts'
import { asChatId, type ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import {
  listObjects,
  listRunNames,
  readManifest,
  readObject,
  realFolder,
  ARCHIVE_LOCK,
  isUnfinished,
  objectAt,
  pathsBelow,
  runAt,
  whyUnsound,
} from './archive-files.ts'
import { lstatSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isSystemLitter } from '../../model/system-litter.ts'
import { BARS_FILE } from '../../mirror/purge/bars.ts'
import type { ArchiveVerdict } from '../answers/archives.ts'
import type { Progress } from '../../model/progress.ts'

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

/**
 * Reads every byte below the archive folder, and compares it with its checksum: manifests with their own, and objects
 * with their names. Follows no link. Yields progress.
 */
export function* verifyArchive(given: string): Generator<Progress, Omit<ArchiveVerdict, 'name'>> {
  const dir = realFolder(given)
  const paths = [...pathsBelow(dir)].sort()
  const objects = paths.flatMap((path) => objectAt(path) ?? [])
  const runs = paths.flatMap((path) => runAt(path) ?? [])
  const unexpected = paths.filter((path) => (objectAt(path) ?? runAt(path)) === null && !isHarmless(dir, path))
  const sound = new Set<string>()
  for (const [index, object] of objects.entries()) {
    if (whyUnsound(dir, object) === null) sound.add(object)
    yield { done: index + 1, total: objects.length }
  }
  const damaged = new Set<string>()
  const damagedRuns = new Map<string, string | null>()
  const named = new Set<string>()
  for (const name of runs) {
    const manifest = readManifest(dir, name)
    const chats = manifest.kind === 'sound' ? manifest.value.chats : []
    const wrong = chats.filter(({ object }) => !sound.has(object))
    if (manifest.kind === 'damaged') damagedRuns.set(name, manifest.why)
    else if (wrong.length > 0) damagedRuns.set(name, null)
    for (const { id } of wrong) damaged.add(id)
    for (const { object } of chats) named.add(object)
  }
  for (const object of objects) if (!sound.has(object) && !named.has(object)) unexpected.push(objectPath(object))
  return {
    ok: damaged.size === 0 && damagedRuns.size === 0 && unexpected.length === 0,
    checked: runs.length + new Set([...objects, ...named]).size,
    damaged: [...damaged],
    damagedRuns: [...damagedRuns].map(([name, why]) => ({ name, why })),
    unexpected,
  }
}

/** The lock, the bars of purges, what an interrupted run leaves, or what an operating system leaves. The lock is not opened: that would release it. */
function isHarmless(dir: string, path: string): boolean {
  const stat = lstatSync(join(dir, path))
  if (!stat.isFile()) return false
  if (path === ARCHIVE_LOCK) return stat.size === 0
  // Earlier builds wrote the bars as `user.db`.
  if (path === BARS_FILE || path === 'user.db') return true
  return isUnfinished(path) || isSystemLitter(basename(path))
}
