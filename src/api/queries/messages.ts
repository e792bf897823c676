import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { prepared } from '../../mirror/sql.ts'
import { findChatNum } from './chats/get-chat.ts'
import { withImages } from './images.ts'

import type { PageRequest } from '../answers/common.ts'
import { inSnapshot } from './snapshot.ts'
import type { Message, MessagePage, Tokens } from '../answers/messages.ts'
import { recordedTokens } from '../../model/message.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import { answerRow, SOURCE_NAME, type Row } from './answer-row.ts'

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

/**
 * One page of a chat, in Cursor's order. Null if no chat has this id.
 * @throws UserError `message-not-found` or `several-messages` if `around` does not name one message
 */
export function listMessages(db: Mirror, request: MessageListRequest): MessagePage | null {
  return inSnapshot(db, () => {
    const chat = findChatNum(db, request.chatId)
    if (chat === null) return null
    const { thread, orphans } = countMessages(db, chat)
    const total = request.includeOrphans ? thread + orphans : thread
    const { start, centre } = placeOfPage(db, chat, request, { thread, total })
    const keys = findKeys(db, chat, { start, limit: request.limit, thread, total })
    const [from, to] = fitting(db, keys, centre - start)
    const end = start + to
    return {
      items: withImages(db, chat, readMessages(db, request.chatId, keys.slice(from, to))),
      total,
      limit: request.limit,
      offset: start + from,
      nextOffset: end < total ? end : null,
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

/**
 * A chat in Cursor's order, page by page on demand. Null in place of a page if the chat is gone.
 * @param limit messages of a page
 */
export function* walkMessages(
  db: Mirror,
  { chatId, includeOrphans, limit }: Pick<MessageListRequest, 'chatId' | 'includeOrphans' | 'limit'>,
): Generator<readonly Message[] | null> {
  const chat = findChatNum(db, chatId)
  if (chat === null) yield null
  if (chat === null) return
  const keys = [
    ...pluckKeys(db, THREAD_KEYS, chat, -1, 0),
    ...(includeOrphans ? pluckKeys(db, ORPHAN_KEYS, chat, -1, 0) : []),
  ]
  for (let start = 0; start < keys.length; start += limit) {
    yield inSnapshot(db, () =>
      findChatNum(db, chatId) === chat ? readMessages(db, chatId, keys.slice(start, start + limit)) : null,
    )
  }
}

/** The first message of the page, and the one that must be in it, by their places in the chat. */
function placeOfPage(
  db: Mirror,
  chat: number,
  request: MessageListRequest,
  counts: { thread: number; total: number },
): { readonly start: number; readonly centre: number } {
  if (request.around === null) return { start: request.offset, centre: request.offset }
  const found = findIds(db, chat, request.around)
  const id = found.find((each) => each === request.around || found.length === 1)
  if (id === undefined && found.length > 1) {
    const text = `${found.length} messages of the chat have an id that begins with ${request.around}.`
    throw new UserError('several-messages', text, 'Give more of the id.', { status: 400 })
  }
  const place = id === undefined ? null : findPlace(db, chat, id)
  if (place === null) {
    const text = 'No message of this chat has the id given as "around".'
    throw new UserError('message-not-found', text, 'Without it all messages are listed.', { status: 404 })
  }
  if (place.isOrphan === 1 && !request.includeOrphans) {
    throw new UserError('message-not-found', 'This message is an orphan.', 'Add includeOrphans=true.', { status: 404 })
  }
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

const MESSAGES_BY_KEY = `
  select
    m.id, iif(m.is_orphan = 1, null, m.position) as position, m.role, m.created_at as createdAt,
    m.created_at_source as createdAtSource, m.model, m.is_orphan = 1 as isOrphan, m.is_simulated as isSimulated,
    1 - m.is_live as deletedInCursor, m.is_index_capped as isIndexCapped, ${SOURCE_NAME},
    m.input_tokens, m.output_tokens, m.estimated_input, m.estimated_output, b.parts
  from json_each(?) wanted
  join messages m on m.key = wanted.value
  join sources s on s.num = m.source
  left join bodies b on b.num = m.body
  order by wanted.key
`

interface Unshaped {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly estimated_input: number | null
  readonly estimated_output: number | null
  readonly parts: string | null
}

/** The messages with these keys and their parts, in the given order. */
export function readMessages(db: Mirror, chatId: ChatId, keys: readonly number[]): Message[] {
  const rows = db.prepare<[string], Row & Unshaped>(MESSAGES_BY_KEY).all(JSON.stringify(keys))
  return rows.map(
    ({ input_tokens: input, output_tokens: output, estimated_input, estimated_output, parts, ...row }) => ({
      ...answerRow<Omit<Message, 'chatId' | 'tokens' | 'parts'>>(row),
      chatId,
      tokens: toTokens(recordedTokens(input, output), { input: estimated_input, output: estimated_output }),
      parts: parts === null ? [] : parseParts(parts),
    }),
  )
}

/** Cursor writes 0 and 0 if it did not count. That is not a record. */
function toTokens(
  recorded: ReturnType<typeof recordedTokens>,
  { input, output }: { readonly input: number | null; readonly output: number | null },
): Tokens | null {
  if (recorded !== null) return { ...recorded, source: 'recorded' }
  return input === null || output === null ? null : { input, output, source: 'estimated' }
}
