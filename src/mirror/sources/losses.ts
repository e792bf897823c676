import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Loss } from '../../model/chat.ts'
import type { MessageColumns } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'

/** A chat goes in several writes; messages that went within the hour before its last one are told by the chat. */
const ONE_GOING_MS = 3_600_000

export interface ChatLoss {
  readonly num: number
  readonly id: ChatId
  /** False where no source holds the chat's own row, or the word of one that never had it. */
  readonly isLive: boolean
  /** Epoch milliseconds; null where it is live, or nobody knows when it went. */
  readonly deletedAtMs: number | null
  /** All messages of the chat, of every source, as they stand now. */
  readonly messages: readonly MessageColumns[]
  /** What came out of an archive is lost where the archive says when it was. */
  isRemembered(message: MessageColumns): boolean
  readonly nowMs: number
}

interface Line {
  readonly kind: Loss['kind']
  /** Blank for a chat. */
  readonly messageId: string
  readonly atMs: number
}

const LIST_LINES = `select kind, message_id as messageId, at as atMs from losses where chat = ?`
const ADD_LINE = `insert into losses (chat, kind, message_id, at) values (?, ?, ?, ?)`
const DROP_LINE = `delete from losses where chat = ? and kind = ? and message_id = ?`

/**
 * Brings the ledger to what is lost of a chat now. A line keeps the moment at which it was entered, and goes when what it
 * tells of is back. @returns what was entered
 */
export function enterLosses(db: Mirror, chat: ChatLoss): Loss[] {
  const before = new Map(
    prepared<Line>(db, LIST_LINES)
      .all(chat.num)
      .map((line) => [nameOf(line), line]),
  )
  const after = new Map(linesOf(chat, before).map((line) => [nameOf(line), line]))
  for (const [name, { kind, messageId }] of before) {
    if (!after.has(name)) prepared(db, DROP_LINE).run(chat.num, kind, messageId)
  }
  const entered = [...after].filter(([name]) => !before.has(name)).map(([, line]) => line)
  for (const { kind, messageId, atMs } of entered) prepared(db, ADD_LINE).run(chat.num, kind, messageId, atMs)
  return entered.map(({ kind, messageId }) => ({
    kind,
    chatId: chat.id,
    messageId: kind === 'chat' ? null : (messageId as MessageId),
  }))
}

const nameOf = ({ kind, messageId }: Pick<Line, 'kind' | 'messageId'>): string => `${kind} ${messageId}`

function linesOf(chat: ChatLoss, before: ReadonlyMap<string, Line>): Line[] {
  const { nowMs } = chat
  const wentAtMs = (message: MessageColumns): number =>
    chat.isRemembered(message) ? (message.deleted_at ?? nowMs) : nowMs
  if (!isChatLost(chat)) {
    return findLost(chat).map((message) => {
      const line = { kind: 'message', messageId: message.id, atMs: wentAtMs(message) } as const
      return before.get(nameOf(line)) ?? line
    })
  }
  const atMs = chat.messages.every((message) => chat.isRemembered(message)) ? chat.deletedAtMs : null
  const whole = { kind: 'chat', messageId: '', atMs: atMs ?? nowMs } as const
  const line = before.get(nameOf(whole)) ?? whole
  const earlier = [...before.values()].filter(
    ({ kind, atMs: at }) => kind === 'message' && at < line.atMs - ONE_GOING_MS,
  )
  return [line, ...earlier]
}

/** Of a chat that never held a message there is nothing to miss. */
function isChatLost(chat: ChatLoss): boolean {
  const { messages } = chat
  if (chat.isLive || chat.deletedAtMs === null || messages.some(({ is_live }) => is_live === 1)) return false
  const known = messages.filter(({ is_orphan }) => is_orphan !== 2)
  if (known.some((message) => !chat.isRemembered(message))) return true
  return known.length > 0 && known.every((message) => isGone(message, chat))
}

/** Of a message that only an archive tells of, nobody may know that Cursor dropped it. */
const isGone = (message: MessageColumns, chat: ChatLoss): boolean =>
  message.is_live === 0 && (message.deleted_at !== null || !chat.isRemembered(message))

/** Messages that no source holds, neither by their id nor by their words. */
function findLost(chat: ChatLoss): MessageColumns[] {
  const { messages } = chat
  const dead = messages.filter((message) => message.is_orphan !== 2 && isGone(message, chat))
  if (dead.length === 0) return []
  const live = messages.filter(({ is_live }) => is_live === 1)
  const contents = new Set(live.map(({ content_hash }) => content_hash))
  const words = new Map<number, Set<string>>()
  const wordsBeside = (source: number): ReadonlySet<string> => {
    const known = words.get(source)
    if (known !== undefined) return known
    const found = new Set(live.filter((one) => one.source !== source).flatMap(keysOf))
    words.set(source, found)
    return found
  }
  return dead.filter((one) => {
    // Cursor wrote it anew under another id.
    if (one.is_shadowed === 1 && contents.has(one.content_hash)) return false
    const keys = keysOf(one)
    return keys.length === 0 || !keys.every((key) => wordsBeside(one.source).has(key))
  })
}

const keysOf = ({ text_keys }: MessageColumns): string[] => splitTextKeys(text_keys)
