import type { Part } from '../../model/part.ts'
import type { ChatWrite, MessageWrite } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { readOutline } from '../threads/outlines.ts'
import { prepared } from '../prepared.ts'
import { comparable } from '../write/messages/text-key.ts'
import { sayingsOf } from './said.ts'
import { addTombstones, Tombstones } from './tombstones.ts'

const FIND_CHAT = `select num from chats where id = ?`
const LIST_PARTS = `
select bodies.parts from messages join bodies on bodies.num = messages.body
where messages.chat = ? order by messages.source, messages.position, messages.key
`

/**
 * Keeps what was purged out of a chat that a newer decoder reads. Where a store gives messages no ids, they are numbered,
 * and a newer decoder may number or cut them in another way: a barred id then bars another message. So in a chat that has
 * a barred message, every message is barred that holds a text which the mirror no longer has. That may bar too much.
 * @param chat what the newer decoder yields; nothing of it is written yet
 * @returns the chat, without places for what is barred now
 */
export function barRenumbered(db: Mirror, source: number, chat: ChatWrite): ChatWrite {
  const tombstones = new Tombstones(db)
  if (tombstones.isEmpty || tombstones.hasChat(chat.id) || chat.messages.length === 0) return chat
  const num = prepared<number>(db, FIND_CHAT).pluck().get(chat.id)
  if (num === undefined) return chat
  const former = readOutline(db, num, source) ?? []
  if (!former.some(({ id }) => id !== null && tombstones.hasMessage(chat.id, id))) return chat
  const heldText = prepared<string>(db, LIST_PARTS).pluck().all(num).flatMap(textsOf).join(' ')
  const isNew = (message: MessageWrite): boolean => !textsOf(message.partsJson).every((text) => heldText.includes(text))
  const barred = new Set(chat.messages.filter(isNew).map(({ id }) => id))
  if (barred.size === 0) return chat
  db.transaction(() => {
    const messages = [...barred].map((id) => ({ chatId: chat.id, id }))
    addTombstones(db, { chats: [], messages, texts: [], until: null, sparesUntimed: false })
  })()
  const { ownRow } = chat
  if (ownRow.kind !== 'read') return chat
  return {
    ...chat,
    ownRow: { ...ownRow, embeddedIds: new Set([...ownRow.embeddedIds].filter((id) => !barred.has(id))) },
  }
}

/** The texts of a message, white space folded. */
const textsOf = (partsJson: string): readonly string[] =>
  [...sayingsOf(JSON.parse(partsJson) as readonly Part[])].flatMap(({ text }) => comparable(text) ?? [])
