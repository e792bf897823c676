import { UserError } from '../../model/user-error.ts'
import { printableLine } from '../../text/printable.ts'
import type { Answers } from '../client/client.ts'
import { shortIds } from '../terminal/formats.ts'
import { cutTo } from '../terminal/text.ts'

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
  const query = { idPrefix: word, includeEmpty: true, subagents: true, limit: LISTED_MAX }
  const { items, total } = await answers.get('/api/chats', { query })
  const [only] = items
  if (only === undefined) return word
  if (total === 1) return only.id
  const short = shortIds(items.map(({ id }) => id))
  const lines = items.map(({ id, title }) => `  ${short(id)}  ${cutTo(printableLine(title), TITLE_MAX)}`)
  const more = total > items.length ? [`  and ${total - items.length} more`] : []
  const text = [`${total} chats have an id that begins with ${word}:`, ...lines, ...more].join('\n')
  throw new UserError('several-chats', text, 'Give more characters of the id.', { exitCode: 2 })
}
