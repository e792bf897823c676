import type { ArchivedChat } from '../../../archive/record.ts'
import { TITLE_MESSAGES_MAX, titleOf } from '../../../mirror/write/chats/derive-chat.ts'
import type { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { asChatId, asMessageId } from '../../../model/ids.ts'
import type { Part } from '../../../model/part.ts'
import { layOut, type LaidOut } from '../pack-object.ts'
import type { ReadObject } from './read-objects.ts'
import { saidAtMs } from './said-at.ts'

/** `same`: nothing of it was purged. `gone`: nothing of it is left. */
export type Rewritten =
  | { readonly kind: 'same' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'other'; readonly laidOut: LaidOut; readonly removed: number }

/** An archived chat without what was purged. */
export function rewriteObject({ chat, messages }: ReadObject, tombstones: Tombstones): Rewritten {
  const chatId = asChatId(chat.id)
  if (tombstones.hasChat(chatId)) return { kind: 'gone' }
  const left = messages.filter(({ message }) => {
    const place = { chatId, atMs: saidAtMs(message) }
    return (
      !tombstones.hasMessage(chatId, asMessageId(message.id)) &&
      !tombstones.hasTextIn(message.parts as readonly Part[], place)
    )
  })
  const facts = spareFacts(chat, tombstones)
  const removed = messages.length - left.length
  if (removed === 0 && facts === chat) return { kind: 'same' }
  const ids = new Set(left.map(({ message }) => message.id))
  const gone = messages.flatMap(({ message: { id } }) => (ids.has(id) ? [] : [id]))
  const titled = {
    ...facts,
    title: titleOf(facts.name, userParts(left)).title,
    outline: spareOutline(facts.outline, new Set(gone)),
    messageCount: left.length,
  }
  return { kind: 'other', laidOut: layOut(linesOf(titled, left)), removed }
}

const noEntry = { id: null, role: null, createdAt: null, startedAt: null }

/** The order with a gap where a message was, as the mirror tells it. */
function spareOutline(outline: ArchivedChat['outline'], gone: ReadonlySet<string>): ArchivedChat['outline'] {
  if (outline === null || gone.size === 0) return outline
  const entries = outline.map((entry) => (entry.id !== null && gone.has(entry.id) ? noEntry : entry))
  const last = entries.findLastIndex(({ id }) => id !== null)
  return entries.slice(0, last + 1)
}

/** What stays of the messages stays to the letter. */
function* linesOf(chat: ArchivedChat, messages: ReadObject['messages']): Generator<string> {
  yield `${JSON.stringify(chat)}\n`
  for (const { line } of messages) yield `${line}\n`
}

/** The same object where nothing in it was purged. */
function spareFacts(chat: ArchivedChat, tombstones: Tombstones): ArchivedChat {
  const place = { chatId: asChatId(chat.id), atMs: null }
  const stands = (text: string | null): boolean => !tombstones.hasText(text, place)
  const spared = {
    ...chat,
    name: stands(chat.name) ? chat.name : null,
    summary: stands(chat.summary) ? chat.summary : null,
    branch: stands(chat.branch) ? chat.branch : null,
    todos: chat.todos.filter(({ content }) => stands(content)),
    paths: chat.paths.filter(stands),
  }
  const isSame =
    spared.name === chat.name &&
    spared.summary === chat.summary &&
    spared.branch === chat.branch &&
    spared.todos.length === chat.todos.length &&
    spared.paths.length === chat.paths.length
  return isSame ? chat : spared
}

/** What a title may be made of: the first of what the user said. */
const userParts = (messages: ReadObject['messages']): readonly (readonly Part[])[] =>
  messages
    .map(({ message }) => message)
    .filter(({ role, isSimulated, isOrphan }) => role === 'user' && !isSimulated && !isOrphan)
    .slice(0, TITLE_MESSAGES_MAX)
    .map(({ parts }) => parts as readonly Part[])
