import * as files from '../../api/archives/archive-files.ts'
import { existsSync } from 'node:fs'
import { requireWritten } from '../../api/archives/make-run.ts'
import { packChat, readIdentity } from '../../api/queries/archived-chat.ts'
import { findChatNum } from '../../api/queries/chats.ts'
import { type ArchivedObject, type ChatEntry, type Manifest, objectPath } from '../../archive/archived-chat.ts'
import { type Mirror, openReader } from '../../mirror/open.ts'
import { Bars, openBars } from '../../mirror/purge/bars.ts'
import { holdsAny, leavesOf, needlesOf } from '../../mirror/purge/scope.ts'
import { asChatId, asMessageId } from '../../model/ids.ts'
import { takeArchiveLock } from '../archives/archive-job.ts'

export interface ArchivesOrder {
  readonly dir: string
  /** It has all that the archives have. */
  readonly mirrorPath: string
  /** Is in no object afterwards. Null if the purge is not of a text. */
  readonly match: string | null
}

/**
 * @returns archived: how many archived chats were replaced or removed. unread: what could not be read and is still there.
 *   Damaged objects of purged chats are removed
 * @throws UserError `archive-busy` if another program writes to the archive folder, or what its disk reports
 */
export async function purgeArchives(order: ArchivesOrder) {
  if (!existsSync(order.dir)) return { archived: 0, unread: [] }
  const lock = takeArchiveLock(order.dir)
  const [mirror, user] = [openReader(order.mirrorPath), openBars(order.mirrorPath)]
  try {
    const purged = await rewrite(order, mirror, new Bars(user))
    await files.writeBars(order.dir, order.mirrorPath)
    return purged
  } catch (error) {
    throw files.explainDisk(error)
  } finally {
    user.close()
    mirror.close()
    lock.release()
  }
}

/**
 * Replaces archived chats that have something barred by what the mirror still has of them. First objects are written under
 * new names and read back, then the runs that named them are written again, then the former objects are removed. After a
 * crash it can simply run again.
 */
async function rewrite({ dir, match }: ArchivesOrder, db: Mirror, bars: Bars) {
  files.removeUnfinished(dir)
  const needles = match === null ? [] : needlesOf(match)
  const unread: string[] = []
  const runs = files.listRunNames(dir).flatMap((name): Manifest[] => {
    const read = files.readManifest(dir, name)
    if (read.kind === 'damaged') unread.push(`archive ${name} (${read.why})`)
    if (read.kind === 'damaged') return []
    // A manifest that is written again gets a checksum of its own.
    const { sha256: _, ...run } = read.value
    return [run]
  })
  const chatOf = new Map(runs.flatMap(({ chats }) => chats.map(({ id, object }) => [object, id] as const)))
  const isPurged = (id: string): boolean => bars.hasChat(asChatId(id))
  /** By the former name of an object: what replaces it, null if it is removed. */
  const others = new Map<string, Pick<ChatEntry, 'object' | 'bytes' | 'messages'> | null>()
  for (const hash of files.listObjects(dir)) {
    const read = files.readObject(dir, hash)
    const id = read.kind === 'sound' ? read.value.chat.id : (chatOf.get(hash) ?? null)
    if (id !== null && isPurged(id)) others.set(hash, null)
    else if (read.kind === 'damaged') unread.push(`object ${hash} of chat ${id ?? 'unknown'} (${read.why})`)
    else if (hasPurged(read.value, bars, needles)) others.set(hash, await writeRest(dir, db, read.value.chat.id))
  }
  for (const manifest of runs) {
    const scope = holdsAny(JSON.stringify(manifest.scope), needles) ? '(purged)' : manifest.scope
    const chats = manifest.chats.flatMap((entry): ChatEntry[] => {
      // The object of a purged chat may be missing already.
      const other = isPurged(entry.id) ? null : others.get(entry.object)
      if (other === undefined) return [entry]
      return other === null ? [] : [{ ...entry, ...other, revision: 0 }]
    })
    const isSame = manifest.chats.every((entry, at) => entry === chats[at])
    if (!isSame || scope !== manifest.scope) await files.writeManifest(dir, { ...manifest, scope, chats })
  }
  const kept = new Set([...others.values()].map((other) => other?.object))
  for (const hash of others.keys()) if (!kept.has(hash)) files.removeObject(dir, hash)
  await files.syncFolders(dir, [...others.keys()].map(objectPath))
  return { archived: others.size, unread }
}

/** Whether a part of a chat is barred, or has the text. An older state may have words that the mirror has no more. */
function hasPurged(object: ArchivedObject, bars: Bars, needles: readonly string[]): boolean {
  const id = asChatId(object.chat.id)
  return (
    holdsAny(JSON.stringify(object), needles) ||
    leavesOf(object).some((text) => bars.hasText(id, text)) ||
    object.messages.some((message) => bars.hasMessage(id, asMessageId(message.id), () => []))
  )
}

async function writeRest(dir: string, db: Mirror, id: string) {
  const num = findChatNum(db, asChatId(id))
  const read = num === null ? null : packChat(db, num, readIdentity(db))
  // What cannot be packed is in the mirror only.
  if (read?.kind !== 'sound') return null
  const { object, packed, messages } = read.value
  await files.writePlainFile(dir, objectPath(object), packed)
  await files.syncFolders(dir, [objectPath(object)])
  requireWritten(dir, { id, object })
  return { object, bytes: packed.length, messages }
}
