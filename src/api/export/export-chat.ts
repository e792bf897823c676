import { createHash } from 'node:crypto'
import type { ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import type { Mirror } from '../../mirror/open.ts'
import { readChats, findChatNum } from '../queries/chats.ts'
import { walkMessages } from '../queries/messages.ts'
import { exporters, type ExportFormat, type ExportStamp } from './formats.ts'
import type { Masking } from './redact/masking.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

export interface Wanted {
  readonly as: ExportFormat
  readonly includeOrphans: boolean
  readonly stamp: Pick<ExportStamp, 'version' | 'exportedAt'>
  /** Masks secrets before the text is formatted, whatever the format. Null leaves them. */
  readonly masking: Masking | null
}

/** A chat as a file. */
export interface ChatFile {
  readonly name: string
  readonly contentType: string
  readonly contentSecurityPolicy?: string
  readonly text: Iterable<string>
}

/** @returns null if no chat has this id @throws UserError `chat-gone`, while the text is read, if the chat is removed */
export function exportChat(db: Mirror, id: ChatId, wanted: Wanted): ChatFile | null {
  const num = findChatNum(db, id)
  const found = num === null ? undefined : readChats(db, [num])[0]
  if (found === undefined) return null
  const { as, masking } = wanted
  const { extension, write, ...headers } = exporters[as]
  const chat = masking?.mask(found) ?? found
  const stamp = masking === null ? wanted.stamp : { ...wanted.stamp, masked: () => masking.counts }
  // The title is part of the name.
  return { ...headers, name: fileNameOf(chat, extension), text: write(chat, messagesOf(db, id, wanted), stamp) }
}

/** How many messages are in memory at once. */
const PAGE_MESSAGES = 50

/**
 * A thread of any length, as it is now, read page by page on demand. No transaction is open between pages. If the chat is
 * removed meanwhile, a part does not count as the whole.
 */
function* messagesOf(db: Mirror, chatId: ChatId, { includeOrphans, masking }: Wanted): Generator<Message> {
  for (const page of walkMessages(db, { chatId, includeOrphans, limit: PAGE_MESSAGES })) {
    if (page === null)
      throw new UserError('chat-gone', 'The chat was removed while it was read.', 'The file is incomplete.')
    for (const each of page) yield masking?.mask(each) ?? each
  }
}

const TITLE_LENGTH_MAX = 40

/** `Fix-the-login-1a2b3c4d.md`. Keeps only the characters of the title that are safe in a header and in a file name. */
function fileNameOf({ id, title }: Pick<Chat, 'id' | 'title'>, extension: string): string {
  const safe = title.replace(/[^A-Za-z0-9_-]+/gu, '-').replace(/^-+/u, '')
  const words = safe.slice(0, TITLE_LENGTH_MAX).replace(/-+$/u, '')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${words === '' ? 'chat' : words}-${hash}.${extension}`
}
