import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { findChatNum } from '../chats/get-chat.ts'
import { withImages } from './images.ts'
import { readMessages } from './message-rows.ts'
import type { Page } from '../../answers/common.ts'
import type { PageRequest } from '../page.ts'
import { inSnapshot } from '../snapshot.ts'
import type { Message } from '../../answers/messages.ts'

export interface MessageListRequest extends PageRequest {
  readonly chatId: ChatId
  /**
   * The id of a message, or the beginning of it. The page is centred on this message. Then `offset` is ignored, and the
   * answer's `offset` is the start of the page.
   */
  readonly around: string | null
  /** Adds messages that the chat no longer lists, after the thread, by time. */
  readonly includeOrphans: boolean
}

export type MessageList =
  | { readonly kind: 'page'; readonly page: Page<Message> & { readonly nextOffset: number | null } }
  | { readonly kind: 'unknown-chat' }
  /** `isOrphan`: the chat has the message, but orphans are not included. */
  | { readonly kind: 'unknown-message'; readonly isOrphan: boolean }
  | { readonly kind: 'several-messages'; readonly count: number }

/** One page of a chat, in Cursor's order. */
export function listMessages(db: Mirror, request: MessageListRequest): MessageList {
  return inSnapshot(db, () => {
    const chat = findChatNum(db, request.chatId)
    if (chat === null) return { kind: 'unknown-chat' }
    const { thread, orphans } = countMessages(db, chat)
    const total = request.includeOrphans ? thread + orphans : thread
    const place = placeOfPage(db, chat, request, { thread, total })
    if ('kind' in place) return place
    const { start, centre } = place
    const keys = findKeys(db, chat, { start, limit: request.limit, thread, total })
    const [from, to] = fitting(db, keys, centre - start)
    const end = start + to
    return {
      kind: 'page',
      page: {
        items: withImages(db, chat, readMessages(db, request.chatId, keys.slice(from, to))),
        total,
        limit: request.limit,
        offset: start + from,
        nextOffset: end < total ? end : null,
      },
    }
  })
}

/** Of the parts in one answer. A tool can return megabytes, and 200 such messages at once would fill the memory. */
const OCTETS_MAX = 8 * 1024 * 1024

const SIZES = `
  select ifnull(octet_length(b.parts), 0)
  from json_each(?) wanted join messages m on m.key = wanted.value left join bodies b on b.num = m.body
  order by wanted.key
`

/** The stretch of messages around one that is not too large for an answer. At least this one is in it. */
function fitting(db: Mirror, keys: readonly number[], centre: number): readonly [from: number, to: number] {
  const sizes = prepared<number>(db, SIZES).pluck().all(JSON.stringify(keys))
  let left = OCTETS_MAX - (sizes[centre] ?? 0)
  let [from, to] = [centre, centre + 1]
  const fits = (index: number): boolean => index >= 0 && index < sizes.length && (sizes[index] ?? 0) <= left
  while (fits(to) || fits(from - 1)) {
    if (fits(to)) left -= sizes[to++] ?? 0
    if (fits(from - 1)) left -= sizes[--from] ?? 0
  }
  return keys.length === 0 ? [0, 0] : [from, to]
}

/** Both counts use only an index, so that counting a thread does not read it. */
export const COUNT_MESSAGES = `
  select
    (select count(*) from messages where chat = @chat)
      - (select count(*) from messages where chat = @chat and is_orphan = 2) as messages,
    (select count(*) from messages where chat = @chat and is_orphan = 1) as orphans
`

function countMessages(db: Mirror, chat: number): { thread: number; orphans: number } {
  const row = db.prepare<[object], { messages: number; orphans: number }>(COUNT_MESSAGES).get({ chat })
  return { thread: (row?.messages ?? 0) - (row?.orphans ?? 0), orphans: row?.orphans ?? 0 }
}

export const THREAD_KEYS = `
  select key
  from messages
  where chat = @chat and is_orphan = 0
  order by position, key
  limit @limit offset @offset
`

export const ORPHAN_KEYS = `
  select key
  from messages
  where chat = @chat and is_orphan = 1
  order by created_at is null, created_at, key
  limit @limit offset @offset
`

/** The thread is ordered by an index. The orphans follow it: they are few and have no position. A page may have both. */
function findKeys(
  db: Mirror,
  chat: number,
  page: { start: number; limit: number; thread: number; total: number },
): number[] {
  const { start, limit, thread, total } = page
  const keys = start < thread ? pluckKeys(db, THREAD_KEYS, chat, limit, start) : []
  const left = limit - keys.length
  if (total === thread || left === 0) return keys
  return [...keys, ...pluckKeys(db, ORPHAN_KEYS, chat, left, Math.max(0, start - thread))]
}

function pluckKeys(db: Mirror, sql: string, chat: number, limit: number, offset: number): number[] {
  return db.prepare<[object], number>(sql).pluck().all({ chat, limit, offset })
}

/** The messages after a place of the thread. It costs the same at each place, which an offset does not. */
export const THREAD_AFTER = `
  select key, position
  from messages
  where chat = @chat and is_orphan = 0 and (position, key) > (@position, @key)
  order by position, key
  limit @limit
`

/**
 * A chat in Cursor's order, page by page on demand. Null in place of a page if the chat is gone. Each page is read when
 * it is asked for, so messages that are added at the end meanwhile are included.
 * @param limit messages of a page
 */
export function* walkMessages(
  db: Mirror,
  { chatId, includeOrphans, limit }: Pick<MessageListRequest, 'chatId' | 'includeOrphans' | 'limit'>,
): Generator<readonly Message[] | null> {
  const chat = findChatNum(db, chatId)
  const isHere = (): boolean => chat !== null && findChatNum(db, chatId) === chat
  const read = (keys: readonly number[]) => inSnapshot(db, () => (isHere() ? readMessages(db, chatId, keys) : null))
  let last: { readonly key: number; readonly position: number } | undefined = { position: -1, key: 0 }
  while (last !== undefined) {
    const places = db.prepare<[object], { key: number; position: number }>(THREAD_AFTER).all({ chat, ...last, limit })
    yield read(places.map(({ key }) => key))
    last = places.at(-1)
  }
  const orphans = includeOrphans && chat !== null ? pluckKeys(db, ORPHAN_KEYS, chat, -1, 0) : []
  for (let start = 0; start < orphans.length; start += limit) yield read(orphans.slice(start, start + limit))
}

/** The first message of the page, and the one that must be in it, by their places in the chat. */
function placeOfPage(
  db: Mirror,
  chat: number,
  request: MessageListRequest,
  counts: { thread: number; total: number },
): { readonly start: number; readonly centre: number } | Exclude<MessageList, { kind: 'page' | 'unknown-chat' }> {
  if (request.around === null) return { start: request.offset, centre: request.offset }
  const found = findIds(db, chat, request.around)
  const id = found.find((each) => each === request.around || found.length === 1)
  if (id === undefined && found.length > 1) return { kind: 'several-messages', count: found.length }
  const place = id === undefined ? null : findPlace(db, chat, id)
  if (place === null) return { kind: 'unknown-message', isOrphan: false }
  if (place.isOrphan === 1 && !request.includeOrphans) return { kind: 'unknown-message', isOrphan: true }
  const index = place.isOrphan === 1 ? counts.thread + place.before : place.before
  const centred = index - Math.floor(request.limit / 2)
  return { start: Math.max(0, Math.min(centred, counts.total - request.limit)), centre: index }
}

/** A shorter beginning must be the whole id. */
const START_MIN = 4

// The last character of Unicode ends the range.
const IDS_OF_START = `
  select id
  from messages
  where chat = @chat and is_orphan <> 2 and (
    id = @start or length(@start) >= ${START_MIN} and id >= @start and id < @start || char(1114111)
  )
`

const findIds = (db: Mirror, chat: number, start: string): MessageId[] =>
  db.prepare<[object], MessageId>(IDS_OF_START).pluck().all({ chat, start })

interface Place {
  readonly isOrphan: number
  /** How many messages of its kind, thread or orphan, are before it. */
  readonly before: number
}

const PLACE_OF_MESSAGE = `
  select
    it.is_orphan as isOrphan,
    case it.is_orphan
      when 0 then (
        select count(*) from messages m
        where m.chat = it.chat and m.is_orphan = 0 and (m.position, m.key) < (it.position, it.key)
      )
      else (
        select count(*) from messages m
        where m.chat = it.chat and m.is_orphan = 1
          and (m.created_at is null, coalesce(m.created_at, 0), m.key)
            < (it.created_at is null, coalesce(it.created_at, 0), it.key)
      )
    end as before
  from messages it
  where it.chat = @chat and it.id = @id and it.is_orphan <> 2
`

function findPlace(db: Mirror, chat: number, id: MessageId): Place | null {
  return db.prepare<[object], Place>(PLACE_OF_MESSAGE).get({ chat, id }) ?? null
}
