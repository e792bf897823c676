import { dirname, join } from 'node:path'
import { rewrittenRevision, type ChatEntry, type Manifest, type SealedManifest } from '../../../archive/manifest.ts'
import { objectPath } from '../../../archive/names.ts'
import type { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { asChatId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { listRunNames, readManifest, writeManifest } from '../manifest-files.ts'
import { removeUnfinished, syncFolders, writeObjects } from '../object-files.ts'
import { isFolder, removeFile } from '../plain-files.ts'
import { examineObject } from '../prove-object.ts'
import { readObjects } from './read-objects.ts'
import { packRest } from '../pack-object.ts'
import { rewriteObject } from './rewrite-object.ts'
import { scrubScope } from './scrub-scope.ts'
import { tellDamaged, type DamagedArchive } from './survey-archive.ts'

export interface ArchivePurge {
  /** Objects that are others now, or gone. */
  readonly objects: number
  readonly messages: number
  /** Names of the runs that are sealed anew. */
  readonly runs: readonly string[]
  /** What could not be read, and so could not be looked through, and is still there: what was of a purged chat is not. */
  readonly damaged: readonly DamagedArchive[]
}

interface Purging {
  readonly dir: string
  readonly tombstones: Tombstones
  /** By the object's former name: what is said of it now, null where it is gone. */
  readonly others: Map<string, Omit<ChatEntry, 'revision' | 'id'> | null>
  readonly damaged: DamagedArchive[]
  messages: number
}

/**
 * Takes what was purged out of an archive folder: objects are written anew under their new names and read back, then the
 * runs that named them are sealed anew, and then the former objects are removed. Cut short at any moment, it is done by
 * doing it again. To be called by whoever holds the folder's lock.
 * @param match for the scopes of runs, which may name it; null where no text was looked for
 */
export async function* rewriteArchive(
  dir: string,
  tombstones: Tombstones,
  match: string | null,
): AsyncGenerator<void, ArchivePurge> {
  removeUnfinished(dir)
  const purging: Purging = { dir, tombstones, others: new Map(), damaged: [], messages: 0 }
  for (const object of readObjects(dir)) {
    if (object.kind === 'sound') await takeOut(purging, object)
    else {
      const isGone = object.chatId !== null && tombstones.hasChat(asChatId(object.chatId))
      if (isGone) purging.others.set(object.hash, null)
      // Whatever a folder in its place holds is not ours to remove.
      if (!isGone || isFolder(join(dir, objectPath(object.hash)))) purging.damaged.push(tellDamaged(object))
    }
    yield
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') purging.damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (await sealAnew(purging, read.value, match)) runs.push(name)
    yield
  }
  await removeFormer(dir, [...purging.others.keys()])
  return { objects: purging.others.size, messages: purging.messages, runs, damaged: purging.damaged }
}

async function takeOut(purging: Purging, object: Parameters<typeof rewriteObject>[0]): Promise<void> {
  const { dir, tombstones, others } = purging
  const rewritten = rewriteObject(object, tombstones)
  if (rewritten.kind === 'same') return
  if (rewritten.kind === 'gone') {
    purging.messages += object.messages.length
    others.set(object.hash, null)
    return
  }
  const packed = await packRest(rewritten.laidOut)
  await syncFolders(await writeObjects(dir, [packed]))
  const { hash, content, bytes, messages } = packed
  const proof = examineObject(dir, hash)
  if (proof.kind === 'damaged' || proof.value.content !== content) {
    const text = `What was archived anew of the chat ${object.chat.id} is not what is read back.`
    throw new UserError('archive-unproven', text, `Look at the disk that holds ${dir}; the archive before is whole.`)
  }
  purging.messages += rewritten.removed
  others.set(object.hash, { object: hash, content, bytes, messages: [...messages] })
}

/** @returns whether anything in it had to change */
async function sealAnew(
  { dir, others, tombstones }: Purging,
  sealed: SealedManifest,
  match: string | null,
): Promise<boolean> {
  const { sha256: _, leftOut: before = [], ...manifest } = sealed
  const scope = scrubScope(manifest.scope, match)
  const leftOut = before.filter(({ id }) => !tombstones.hasChat(asChatId(id)))
  const isSame = scope === manifest.scope && leftOut.length === before.length
  // Of a chat that is gone the object may be missing already.
  const otherOf = ({ id, object }: ChatEntry) => (tombstones.hasChat(asChatId(id)) ? null : others.get(object))
  if (isSame && manifest.chats.every((entry) => otherOf(entry) === undefined)) return false
  const chats = manifest.chats.flatMap((entry): ChatEntry[] => {
    const other = otherOf(entry)
    if (other === undefined) return [entry]
    return other === null ? [] : [{ ...entry, ...other, revision: rewrittenRevision(entry.revision) }]
  })
  const objects = new Map(chats.map(({ object, bytes }) => [object, bytes]))
  const counted: Manifest = {
    ...manifest,
    ...(leftOut.length === 0 ? {} : { leftOut }),
    scope,
    chatCount: chats.length,
    messageCount: chats.reduce((sum, { messages }) => sum + messages.length, 0),
    bytes: [...objects.values()].reduce((sum, bytes) => sum + bytes, 0),
    chats,
  }
  await writeManifest(dir, counted)
  return true
}

async function removeFormer(dir: string, hashes: readonly string[]): Promise<void> {
  const paths = hashes.map((hash) => join(dir, objectPath(hash)))
  for (const path of paths) removeFile(path)
  await syncFolders(new Set(paths.map((path) => dirname(path))))
}
