import * as z from 'zod/mini'
import { chatsAnswer } from '../../api/http/schemas/chats.ts'
import { message, messagesAnswer } from '../../api/http/schemas/messages.ts'
import { UserError } from '../../model/user-error.ts'
import { printableLine } from '../../text/printable.ts'
import type { Answers } from '../client/answers.ts'
import { decodeAnswer } from '../session.ts'
import { cutTo } from '../terminal/text.ts'
import { shortIds } from '../terminal/formats.ts'
import { queryOf } from './options.ts'

/** For the help of an argument or option that names a chat. */
export const CHAT_ID = 'its id, or the beginning of it: 4 characters or more'

const PREFIX_MIN = 4
/** A UUID. Most ids of chats are this long, and then there is nothing to complete. */
const UUID_LENGTH = 36
const LISTED_MAX = 5
/** Columns. With a short id the line fits a narrow terminal. */
const TITLE_MAX = 60

/**
 * The id of the chat that a user means by an id or a prefix. A word that fits no chat is returned unchanged, so that the
 * route reports it.
 * @throws UserError `several-chats` if several chats fit, exit code 2
 */
export async function completeChatId(answers: Answers, word: string): Promise<string> {
  if (word.trim().length < PREFIX_MIN || word.length >= UUID_LENGTH) return word
  const query = queryOf({ idPrefix: word, includeEmpty: true, subagents: true, limit: LISTED_MAX })
  const { items, total } = decodeAnswer(chatsAnswer, await answers.get('/api/chats', query))
  const [only] = items
  if (only === undefined) return word
  if (total === 1) return only.id
  const short = shortIds(items.map(({ id }) => id))
  const lines = items.map(({ id, title }) => `  ${short(id)}  ${cutTo(printableLine(title), TITLE_MAX)}`)
  const more = total > items.length ? [`  and ${total - items.length} more`] : []
  const text = [`${total} chats have an id that begins with ${word}:`, ...lines, ...more].join('\n')
  throw new UserError('several-chats', text, 'Give more characters of the id.', { exitCode: 2 })
}

/** The same for a part of a path, percent-encoded. */
export const completeChatPart = async (answers: Answers, part: string): Promise<string> =>
  encodeURIComponent(await completeChatId(answers, decodeURIComponent(part)))

const PAGE_MAX = 200
const idsAnswer = z.pick(z.extend(messagesAnswer, { items: z.array(z.pick(message, { id: true })) }), {
  items: true,
  total: true,
})

/**
 * The id of the message that a user means by an id or a prefix, with or without the `@` of the output. A word that fits
 * no message is returned unchanged.
 * @param path of the messages of the chat
 * @throws UserError `several-messages` if several messages fit, exit code 2
 */
export async function completeMessageId(answers: Answers, path: string, given: string): Promise<string> {
  const word = given.replace(/^@/, '')
  if (word.trim().length < PREFIX_MIN || word.length >= UUID_LENGTH) return word
  const found: string[] = []
  for (let offset = 0, total = Infinity; offset < total; offset += PAGE_MAX) {
    const query = queryOf({ limit: PAGE_MAX, offset, includeOrphans: true })
    const page = decodeAnswer(idsAnswer, await answers.get(path, query))
    total = page.total
    found.push(...page.items.map(({ id }) => id).filter((id) => id.startsWith(word)))
  }
  if (found.includes(word)) return word
  const [only = word, ...others] = found
  if (others.length === 0) return only
  const text = `${found.length} messages of the chat have an id that begins with ${word}.`
  throw new UserError('several-messages', text, 'Give more characters of the id.', { exitCode: 2 })
}
