import type { ChatFacts } from '../../../model/change.ts'
import { type ChatId, asChatId, type MessageId } from '../../../model/ids.ts'
import { type Evidence, weighEvidence } from '../../projects/root-uri.ts'
import { decodeFacts, madeId } from '../records/chat.ts'
import * as json from '../records/json.ts'
import type { JsonRecord } from '../records/json.ts'
import { type ConversationState, hexBytes } from '../records/conversation-state.ts'
import type { RawFacts, ReadStore, StoreFile } from './read.ts'
import { crc32 } from 'node:zlib'
import type { HeldMessage } from '../../../mirror/write/messages.ts'
import { textKey } from '../../../mirror/write/pack-message.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { decodeModelThread, type DecodedThread } from '../records/model-messages.ts'

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

/** A store's facts about itself. Of the encryption key only its presence is reported. */
export interface StoreFacts {
  readonly record: JsonRecord
  readonly isEncrypted: boolean
}

const OWN_ROW = '0'
/** The name of a chat that was not given one. */
const PLACEHOLDER = 'New Agent'

/** One row of JSON, usually as hex; in other builds one row per fact. Null if the row is not a JSON object. */
export function decodeStoreFacts({ values, hasKey }: RawFacts): StoreFacts | null {
  const own = values.get(OWN_ROW)?.toString('utf8')
  const found = own === undefined ? recordOf(values) : parseHexed(own)
  if (found === null) return null
  const { blobEncryptionKey: key, ...record } = found
  return { record, isEncrypted: hasKey || json.filledString(key) !== null }
}

function parseHexed(text: string): JsonRecord | null {
  return json.parsedRecord(hexBytes(text)?.toString('utf8') ?? text)
}

/** Each value is plain text, or text as JSON. */
function recordOf(values: RawFacts['values']): JsonRecord {
  const entries = [...values].map(([name, value]) => {
    const text = value.toString('utf8')
    const parsed = text.startsWith('"') ? json.parseJson(text) : null
    return [name, parsed === null ? text : parsed.value] as const
  })
  return Object.fromEntries(entries)
}

const PATH_LENGTH_MAX = 4096

/** A path of any OS on which the chat ran. A relative path is useless, because its base is unknown. */
function absolutePath(value: unknown): string | null {
  const path = json.filledString(value)
  if (path === null || path.length > PATH_LENGTH_MAX || path.includes('\0')) return null
  return /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(path) ? path : null
}

/** @param sidecar the content of `meta.json` beside the store */
export function factsOf(
  chatId: ChatId,
  { record }: StoreFacts,
  sidecar: JsonRecord,
  state: ConversationState | null,
): ChatFacts {
  const plain = decodeFacts({}, chatId, 'cli')
  const name = json.filledStringIn(record, 'name')
  const [parent = null] = [record, sidecar].flatMap(
    (each) => json.filledStringIn(json.recordIn(each, 'subagentInfo'), 'parentAgentId') ?? [],
  )
  return {
    ...plain,
    name: json.filledStringIn(sidecar, 'title') ?? (name === PLACEHOLDER ? null : name),
    createdAtMs:
      json.readTime(record['createdAt']) ?? json.readTime(sidecar['createdAtMs']) ?? state?.startedAtMs ?? null,
    updatedAtMs: json.readTime(sidecar['updatedAtMs']),
    mode: json.filledStringIn(record, 'mode'),
    model: json.readModelName(record, 'lastUsedModel'),
    isSubagent: plain.isSubagent || sidecar['isSubagent'] === true || record['isSubagent'] === true || parent !== null,
    parentChatId: parent === null ? null : asChatId(parent),
    childChatIds: (state?.childIds ?? []).map(asChatId),
    summary: state?.goal ?? null,
    contextTokens: state?.contextTokens ?? null,
  }
}

/** Where the chat was started, according to the store. If the window had several roots, the first counts. */
export function evidenceOf(sidecar: JsonRecord, state: ConversationState | null): readonly Evidence[] {
  const cwd = absolutePath(sidecar['cwd'])
  const uri = state?.workspaceUris.map(json.readFileUri).find((place) => place !== null) ?? null
  return [
    ...(cwd === null ? [] : [{ method: 'cli-folder' as const, uri: cwd }]),
    ...(uri === null ? [] : [{ method: 'cli-workspace' as const, uri }]),
  ]
}
