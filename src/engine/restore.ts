import { chooseChats, readChat, type ChosenChats } from '../api/archives/archive-files.ts'
import type { ArchiveRestored, RestoreRequest } from '../api/answers/archives.ts'
import type { Progress } from '../model/progress.ts'
import type { ArchivedObject } from '../archive/archived-chat.ts'
import { restoreChat, readMap } from '../indexer/sources/archive/index.ts'
import type { Mirror } from '../mirror/open.ts'
import { listMessageIds } from '../mirror/write/messages.ts'
import type { Written } from '../model/change.ts'
import { placeByPaths } from '../mirror/projects/place-chats.ts'
import { isOwn } from '../mirror/write/chat-columns.ts'
import { asChatId, type ChatId } from '../model/ids.ts'

/** What the mirror's only writer restores at once. */
export interface RestorePart extends Pick<ChosenChats, 'dir' | 'chats'> {
  readonly map: RestoreRequest['map']
  /** Only counts what would be added. */
  readonly dryRun: boolean
  /** How many messages of this restore were added before. The first ones are urgent for the index. */
  readonly addedBefore: number
}

export interface RestoredPart {
  /** In messages. */
  readonly added: number
  /** In chats of lists. */
  readonly addedChats: number
  /** The undamaged chats, new or not. */
  readonly found: readonly { readonly id: ChatId; readonly messages: number; readonly isListed: boolean }[]
  /** Ids of damaged chats. */
  readonly damaged: readonly string[]
}

/** New messages of Cursor are read between two parts. */
const PART = 50

/**
 * Reads a run of an archive, or all of them, back into the mirror. It takes no lock: what another mirror removes from the
 * folder meanwhile counts as damaged.
 * @param write has the writer restore a part
 * @param ownDir this program's archive folder
 * @throws UserError `archive-not-found`
 */
export async function restoreArchive(
  { name, from, map, dryRun = false }: RestoreRequest,
  ownDir: string,
  write: (part: RestorePart) => Promise<RestoredPart>,
  onProgress: (progress: Progress) => void,
): Promise<ArchiveRestored> {
  const { dir, names, chats, damage } = chooseChats(from ?? ownDir, name === 'newest' ? null : name)
  /** Each chat in its most complete state: several mirrors may have archived it. */
  const found = new Map<ChatId, RestoredPart['found'][number]>()
  const damaged = new Set<string>()
  let [added, addedChats] = [0, 0]
  for (let done = 0; done < chats.length; done += PART) {
    const part = await write({ dir, chats: chats.slice(done, done + PART), map, dryRun, addedBefore: added })
    for (const chat of part.found) if (chat.messages >= (found.get(chat.id)?.messages ?? 0)) found.set(chat.id, chat)
    for (const id of part.damaged) damaged.add(id)
    added += part.added
    addedChats += part.addedChats
    onProgress({ done: Math.min(done + PART, chats.length), total: chats.length })
  }
  return {
    name: names[0] ?? '',
    runs: names.length,
    ok: damage === null && damaged.size === 0,
    chats: [...found.values()].filter((chat) => chat.isListed).length,
    messages: [...found.values()].reduce((sum, { messages }) => sum + messages, 0),
    added,
    addedChats,
    damaged: [...damaged],
    manifest: damage,
  }
}

/** Restores of each chat the newest state that is undamaged, in bounded steps. */
export function* restorePart(
  { dir, chats, map, dryRun, addedBefore }: RestorePart,
  mirror: () => Mirror,
  now: () => number,
): Generator<Written | null, RestoredPart> {
  const mapUri = readMap(map)
  const isHeld = (id: ChatId): boolean => isOwn(mirror(), id)
  /** Chats that changed. */
  const touched = new Set<ChatId>()
  const found: RestoredPart['found'][number][] = []
  const damaged: string[] = []
  let [added, addedChats] = [0, 0]
  for (const { id: named, objects } of chats) {
    for (const hash of objects) {
      const object = readChat(dir, hash, named)
      if (object === null && named !== null) damaged.push(named)
      if (object === null) continue
      const id = asChatId(object.chat.id)
      const isNew = isListed(object) && !isHeld(id)
      found.push({ id, messages: object.messages.length, isListed: isListed(object) })
      if (dryRun) {
        added += countUnheld(mirror(), id, object)
        if (isNew) addedChats += 1
        break
      }
      for (const outcome of restoreChat({ mirror, now, mapUri }, object, addedBefore + added)) {
        added += outcome.added
        for (const each of outcome.chatIds) touched.add(each)
        yield outcome
      }
      // The chat of an excluded project is not written.
      if (isNew && isHeld(id)) addedChats += 1
      break
    }
    yield null
  }
  if (touched.size > 0) placeByPaths(mirror(), touched)
  return { added, addedChats, found, damaged }
}

/** How many messages of an archived chat the mirror does not have. */
function countUnheld(db: Mirror, id: ChatId, { messages }: ArchivedObject): number {
  const held = new Set<string>(listMessageIds(db, id))
  return messages.filter((message) => !held.has(message.id)).length
}

/** Whether lists show the chat: no subagent, no draft, and with a message in its thread. */
const isListed = ({ chat, messages }: ArchivedObject): boolean =>
  !chat.isSubagent && !chat.isDraft && messages.some(({ position }) => position !== null)
