import { asChatId, asMessageId, type ChatId, type MessageId } from '../../../model/ids.ts'

/**
 * The two key families with chats: `composerData:<chat>` and `bubbleId:<chat>:<message>`. No other
 * value of the table is ever selected here. `;` is the character after `:`, so that families and chats are index ranges.
 */
export const CHAT_PREFIX = 'composerData:'
export const MESSAGE_PREFIX = 'bubbleId:'

export interface KeyRange {
  readonly from: string
  /** Exclusive. */
  readonly to: string
}

export const chatFamily: KeyRange = { from: CHAT_PREFIX, to: 'composerData;' }
export const messageFamily: KeyRange = { from: MESSAGE_PREFIX, to: 'bubbleId;' }
export const families: readonly KeyRange[] = [messageFamily, chatFamily]

export type ChatKey =
  | { readonly kind: 'chat'; readonly chatId: ChatId }
  | { readonly kind: 'message'; readonly chatId: ChatId; readonly messageId: MessageId }

const UUID_LENGTH = 36
const COLON = 0x3a
const IS_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Splits a key. A chat's id may contain any character, including a newline or a colon. A message's id was a UUID in
 * every known store, so the text before a UUID at the end is the chat.
 * @returns null for a key of another family, or if its bytes are not UTF-8 (which U+FFFD shows)
 */
export function splitKey(key: string): ChatKey | null {
  if (key.includes('\ufffd')) return null
  if (key.startsWith(CHAT_PREFIX)) {
    return key === CHAT_PREFIX ? null : { kind: 'chat', chatId: asChatId(key.slice(CHAT_PREFIX.length)) }
  }
  if (!key.startsWith(MESSAGE_PREFIX)) return null
  const beforeUuid = key.length - UUID_LENGTH - 1
  const endsInUuid = key.charCodeAt(beforeUuid) === COLON && IS_UUID.test(key.slice(beforeUuid + 1))
  const cut = endsInUuid ? beforeUuid : key.indexOf(':', MESSAGE_PREFIX.length)
  if (cut <= MESSAGE_PREFIX.length || cut === key.length - 1) return null
  return {
    kind: 'message',
    chatId: asChatId(key.slice(MESSAGE_PREFIX.length, cut)),
    messageId: asMessageId(key.slice(cut + 1)),
  }
}

/**
 * Whether a key belongs to this chat, with the same result as `splitKey`. Fast, because it runs for every row of a chat
 * at each change.
 */
export function ofChat(chatId: ChatId): (key: string) => boolean {
  const start = messageRange(chatId).from
  const isPlain = !chatId.includes(':')
  const isPlainMatch = (key: string): boolean =>
    isPlain && key.length > start.length && key.startsWith(start) && !/[:\ufffd]/.test(key.slice(start.length))
  return (key) => isPlainMatch(key) || splitKey(key)?.chatId === chatId
}

export const chatKey = (chatId: ChatId): string => `${CHAT_PREFIX}${chatId}`

export const messageRange = (chatId: ChatId): KeyRange => ({
  from: `${MESSAGE_PREFIX}${chatId}:`,
  to: `${MESSAGE_PREFIX}${chatId};`,
})
