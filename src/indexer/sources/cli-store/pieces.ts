import { crc32 } from 'node:zlib'
import type { HeldMessage } from '../../../mirror/write/messages.ts'
import { textKey } from '../../../mirror/write/pack-message.ts'
import type { MessageId } from '../../../model/ids.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/find-root.ts'
import { madeId } from '../records/chat.ts'
import { decodeModelThread, type DecodedThread } from '../records/model-messages.ts'
import { evidenceOf, factsOf } from './decode-facts.ts'
import type { StoreFile } from './index.ts'
import type { ReadStore } from './read-store.ts'

/**
 * A store as one piece. If nothing of its thread can be read, it must not count as a chat without messages.
 * @param listHeld the chat's live messages from this source in the mirror, in order
 */
export function pieceOf(store: StoreFile, read: ReadStore, listHeld: () => readonly HeldMessage[]): Piece {
  const { key, stamp, chatId, folderHash } = store
  // The id of a message stays the same in a longer thread, in another folder, and in a rebuilt mirror.
  const thread = decodeModelThread(read.chat?.walked?.entries ?? [], (blobKey, occurrence) =>
    madeId(['cli', chatId, blobKey, occurrence]),
  )
  const issue = read.issue ?? thread.issues[0]?.reason ?? null
  // Its location names the folder in which it was started.
  const checksum = read.chat === null ? null : crc32(key, read.checksum)
  const bare: Piece = { key, octets: read.octets, checksum, stamp, issue, chats: [], evidence: [], metadata: [] }
  if (read.chat === null) return { ...bare, octets: store.octets }
  const { facts, sidecar, walked } = read.chat
  const state = walked?.state ?? null
  const isUnread = thread.messages.length === 0 && (walked?.issues.length ?? 0) + thread.issues.length > 0
  // A window that was opened and closed again leaves a store that says that it has no conversation.
  const isEmpty = thread.messages.length === 0 && sidecar['hasConversation'] === false
  if (isUnread || isEmpty) return bare
  const { messages, outline, keptIds } = keepMessages(thread, thread.turnIds.size === 0 ? [] : listHeld())
  const chat: WholeChat = { id: chatId, facts: factsOf(chatId, facts, sidecar, state), outline, messages, keptIds }
  const evidence = weighEvidence(chatId, evidenceOf(sidecar, state), { isOnly: true })
  const isHashed = evidence.length === 0 && folderHash !== null
  return { ...bare, chats: [chat], evidence, paths: isHashed ? [{ chatId, uris: [`md5:${folderHash}`] }] : [] }
}

/**
 * When Cursor writes a summary, it drops messages from the list, and only the turns still have them, shortened. If the
 * mirror has the messages of such a turn, it keeps those. The turn is recognised by the text of its prompt.
 * @param held live messages of the chat from the same source, in order
 * @returns `keptIds`: messages of the thread that the mirror keeps and that are not read again
 */
function keepMessages(thread: DecodedThread, held: readonly HeldMessage[]) {
  const isOnlyInTurns = ({ id }: OutlineEntry): boolean => id !== null && thread.turnIds.has(id)
  const now = new Set<MessageId | null>(thread.outline?.map(({ id }) => id))
  const heldTurns = splitAtPrompts(held.filter(({ id }) => !now.has(id)))
  const promptOf = new Map(thread.messages.map(({ id, role, parts }) => [id, role === 'user' ? textKey(parts) : null]))
  const keptIds: MessageId[] = []
  const outline = splitAtPrompts(thread.outline ?? []).flatMap((turn): readonly OutlineEntry[] => {
    const [{ id: first }] = turn
    const prompt = isOnlyInTurns(turn[0]) && first !== null ? (promptOf.get(first) ?? null) : null
    if (prompt === null) return turn
    const at = heldTurns.findIndex(([{ user_text }]) => user_text === prompt)
    const found = at < 0 ? [] : (heldTurns.splice(0, at + 1).at(-1) ?? [])
    if (found.length === 0) return turn
    keptIds.push(...found.map(({ id }) => id))
    const places = found.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
    return [...places, ...turn.filter((entry) => !isOnlyInTurns(entry))]
  })
  const stays = new Set<MessageId>(outline.flatMap(({ id }) => id ?? []))
  return { outline, messages: thread.messages.filter(({ id }) => stays.has(id)), keptIds }
}

/** Each list but the first begins with a prompt. */
function splitAtPrompts<Entry extends { readonly role: string | null }>(
  entries: readonly Entry[],
): (readonly [Entry, ...Entry[]])[] {
  const turns: [Entry, ...Entry[]][] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    if (last === undefined || entry.role === 'user') turns.push([entry])
    else last.push(entry)
  }
  return turns
}
