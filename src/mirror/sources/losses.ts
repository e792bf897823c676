import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Loss } from '../../model/chat.ts'
import type { MessageColumns } from '../write/messages.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { isDocument } from '../threads/assemble.ts'
import { splitTextKeys } from '../write/pack-message.ts'

/** Cursor deletes a chat in several writes. Messages lost within this time before the chat count as part of its loss. */
const ONE_DELETION_MS = 3_600_000

export interface ChatLoss {
  readonly num: number
  readonly id: ChatId
  /** False if no source has the chat's own row, and no source without such a row has live messages of the chat. */
  readonly isLive: boolean
  /** Epoch milliseconds; null if the chat is live, or the time is unknown. */
  readonly deletedAtMs: number | null
  /** The current state of all messages of the chat, from all sources. */
  readonly messages: readonly MessageColumns[]
  /** Whether the message comes from an archive. Such a message is lost only if the archive says when it was deleted. */
  isRemembered(message: MessageColumns): boolean
  readonly nowMs: number
}

/** Stands for the chat as a whole among the ids of its messages. */
const WHOLE = ''

const LIST_ENTRIES = `select message_id, at from losses where chat = ?`
const ADD_ENTRY = `insert into losses (chat, kind, message_id, at) values (?, ?, ?, ?)`
const DROP_ENTRY = `delete from losses where chat = ? and message_id = ?`

/**
 * Updates the ledger of losses for a chat. An entry keeps the time when it was added. It is removed when the lost chat or
 * message is back. @returns the added losses
 */
export function enterLosses(db: Mirror, chat: ChatLoss): Loss[] {
  const before = new Map(prepared<[id: string, atMs: number]>(db, LIST_ENTRIES).raw().all(chat.num))
  const after = lossesOf(chat, before)
  for (const id of before.keys()) if (!after.has(id)) prepared(db, DROP_ENTRY).run(chat.num, id)
  return [...after].flatMap(([id, atMs]) => {
    if (before.has(id)) return []
    const kind = id === WHOLE ? 'chat' : 'message'
    prepared(db, ADD_ENTRY).run(chat.num, kind, id, atMs)
    return { kind, chatId: chat.id, messageId: id === WHOLE ? null : (id as MessageId) }
  })
}

/** What is lost now, each with the time of its loss. */
function lossesOf(chat: ChatLoss, before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const { nowMs, messages } = chat
  if (!isChatLost(chat)) {
    const lostAtMs = (message: MessageColumns): number =>
      before.get(message.id) ?? (chat.isRemembered(message) ? (message.deleted_at ?? nowMs) : nowMs)
    return new Map(findLost(chat).map((message) => [message.id, lostAtMs(message)]))
  }
  const isOld = messages.every((message) => chat.isRemembered(message))
  const atMs = before.get(WHOLE) ?? (isOld ? chat.deletedAtMs : null) ?? nowMs
  return new Map([
    [WHOLE, atMs],
    ...[...before].filter(([id, lostAtMs]) => id !== WHOLE && lostAtMs < atMs - ONE_DELETION_MS),
  ])
}

/** A chat that never had a message cannot be lost. */
function isChatLost(chat: ChatLoss): boolean {
  const messages = chat.messages.filter((message) => !isDocument(message))
  if (chat.isLive || chat.deletedAtMs === null || messages.some(({ is_live }) => is_live === 1)) return false
  const known = messages.filter(({ is_orphan }) => is_orphan !== 2)
  if (known.some((message) => !chat.isRemembered(message))) return true
  return known.length > 0 && known.every((message) => isGone(message, chat))
}

/** If only an archive has a message, it may be unknown whether Cursor deleted it. */
const isGone = (message: MessageColumns, chat: ChatLoss): boolean =>
  message.is_live === 0 && (message.deleted_at !== null || !chat.isRemembered(message))

/** Messages that no source has any more, neither under their id nor as the same text under another one. */
function findLost(chat: ChatLoss): MessageColumns[] {
  const { messages } = chat
  const dead = messages.filter((message) => message.is_orphan !== 2 && isGone(message, chat))
  if (dead.length === 0) return []
  const live = messages.filter(({ is_live }) => is_live === 1)
  const contents = new Set(live.map(({ content_hash }) => content_hash))
  const holders = new Map<string, Set<number>>()
  for (const one of live)
    for (const key of splitTextKeys(one.text_keys)) holders.set(key, (holders.get(key) ?? new Set()).add(one.source))
  return dead.filter((one) => {
    // Cursor rewrote the message under another id.
    if (one.is_shadowed === 1 && contents.has(one.content_hash)) return false
    const isBeside = (key: string): boolean => [...(holders.get(key) ?? [])].some((source) => source !== one.source)
    const keys = splitTextKeys(one.text_keys)
    return keys.length === 0 || !keys.every(isBeside)
  })
}
