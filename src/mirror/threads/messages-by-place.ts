import { hash as digest } from 'node:crypto'
import { asMessageId, type MessageId } from '../../model/ids.ts'
import type { OutlineEntry } from '../../model/thread.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { sourceIdOf } from '../sources/sources.ts'
import { textsOf } from '../purge/scope.ts'
import type { ChatChange, MessageWrite } from '../../model/change.ts'
import { type HeldMessage, type NextMessage, readParts } from '../write/messages.ts'
import { chatNum } from '../write/chat-columns.ts'
import { parseParts } from '../write/pack-message.ts'

// The id of a message without one is made of its chat and its place. Two stores, or one at two times, can have other
// words at the same place: each of these messages then gets an id of its own, so that all of them are kept.

const madeFrom = (...identity: readonly string[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(identity)).slice(0, 32)}`)

const LIST_RIVALS = `
select messages.id, source, content_hash as contentHash, sources.id as store,
  path < (select path from sources where num = @source) as isFirst
from messages join sources on sources.num = source
where chat = @chat and source <> @source and kind = (select kind from sources where num = @source)
`
const LIST_LIVE = `select id from messages where chat = ? and source = ? and is_live = 1`
const RENAME = `update or ignore messages set id = ? where chat = ? and id = ? and source = ?`
const RENAME_LISTED = `update outlines set entries = replace(entries, ?, ?) where chat = ? and source = ?`

interface Rival {
  readonly id: MessageId
  readonly source: number
  readonly contentHash: string
  readonly store: string
  readonly isFirst: number
}

/** Messages of other stores of this kind that have other words under the id of one of these messages. */
function listRivals(db: Mirror, num: number, source: number, messages: readonly MessageWrite[]): readonly Rival[] {
  const contents = new Map(messages.map(({ id, contentHash }) => [id, contentHash]))
  return prepared<Rival>(db, LIST_RIVALS)
    .all({ chat: num, source })
    .filter(({ id, contentHash }) => contents.has(id) && contents.get(id) !== contentHash)
}

/**
 * A chat in which no id names other words than in another store of this kind. Of two such stores, the one with the first
 * path keeps the id of the place, so the ids do not depend on which store was read first. A message that has an id of its
 * own keeps it if the other store's message is purged; else it would count as lost.
 */
export function withOwnIds(db: Mirror, source: number, chat: ChatChange): ChatChange {
  const { ownRow } = chat
  const num = chat.isByPlace === true ? chatNum(db, chat.id) : null
  if (num === null || ownRow.kind !== 'read') return chat
  const rivals = listRivals(db, num, source, chat.messages).filter(({ isFirst }) => isFirst === 1)
  const store = sourceIdOf(db, source)
  const live = new Set(prepared<MessageId>(db, LIST_LIVE).pluck().all(num, source))
  const renamed =
    live.size === 0 ? [] : chat.messages.filter(({ id }) => !live.has(id) && live.has(madeFrom(id, store)))
  const names = new Map([...rivals, ...renamed].map(({ id }) => [id, madeFrom(id, store)]))
  if (names.size === 0) return chat
  const nameOf = (id: MessageId): MessageId => names.get(id) ?? id
  const rename = (entry: OutlineEntry): OutlineEntry => (entry.id === null ? entry : { ...entry, id: nameOf(entry.id) })
  return {
    ...chat,
    messages: chat.messages.map((message) => ({ ...message, id: nameOf(message.id) })),
    ownRow: {
      ...ownRow,
      embeddedIds: new Set([...ownRow.embeddedIds].map(nameOf)),
      outline: ownRow.outline?.map(rename) ?? null,
    },
  }
}

/** Gives messages of other stores that must leave their ids to this one the ids that reading them again would give them. */
export function renameRivals(db: Mirror, num: number, source: number, { messages }: ChatChange): void {
  for (const { id, source: of, store } of listRivals(db, num, source, messages)) {
    const own = madeFrom(id, store)
    // If it has that id already, reading it again settles both.
    if (prepared(db, RENAME).run(own, num, id, of).changes > 0) prepared(db, RENAME_LISTED).run(id, own, num, of)
  }
}

/**
 * The former message if a message was rewritten with other words. It was not if its words are elsewhere in the chat now,
 * or if they are the beginning of the new ones, as in an answer that is still being written.
 */
export function replacedMessage(
  db: Mirror,
  held: HeldMessage,
  message: MessageWrite,
  { messages }: ChatChange,
  nowMs: number,
): NextMessage | null {
  if (held.content_hash === message.contentHash) return null
  if (messages.some(({ contentHash }) => contentHash === held.content_hash)) return null
  const now = textsIn(message.partsJson)
  if (textsIn(readParts(db, held.body)).every((text) => now.some((longer) => longer.startsWith(text)))) return null
  const deleted_at = held.is_live === 1 ? nowMs : held.deleted_at
  const columns = { ...held, id: madeFrom(held.id, held.content_hash), is_live: 0, deleted_at }
  return { held, columns, partsJson: null, calls: null }
}

const textsIn = (partsJson: string): readonly string[] => textsOf(parseParts(partsJson))
