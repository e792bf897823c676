import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { prepared } from '../../mirror/sql.ts'
import { findChatNum } from './chats.ts'
import type { PageRequest } from '../answers/common.ts'
import { inSnapshot, answerRow, SOURCE_NAME, type Row } from './rows.ts'
import type { Message, MessagePage } from '../answers/messages.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Part } from '../../model/part.ts'
import { readRegular } from '../../regular-file.ts'
import { addressOf } from '../../shared/client.ts'

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
  const { chatId, around, limit } = request
  return inSnapshot(db, () => {
    const chat = findChatNum(db, chatId)
    if (chat === null) return null
    const all = placesOf(db, chat, request.includeOrphans)
    const total = all.length
    const centre = around === null ? request.offset : placeOf(all, around)
    const centred = Math.max(0, Math.min(centre - Math.floor(limit / 2), total - limit))
    const start = around === null ? request.offset : centred
    const keys = all.slice(start, start + limit).map(({ key }) => key)
    const [from, to] = fitting(db, keys, centre - start)
    const end = start + to
    return {
      items: withImages(db, chat, readMessages(db, chatId, keys.slice(from, to))),
      total,
      limit,
      offset: start + from,
      nextOffset: end < total ? end : null,
    }
  })
}

/** The orphans follow the thread, by time. They have no position. */
const PLACES = `
  select key, id from messages where chat = @chat and is_orphan <= @orphans
  order by is_orphan, iif(is_orphan = 0, position, ifnull(created_at, ${Number.MAX_SAFE_INTEGER})), key
`

interface Place {
  readonly key: number
  readonly id: MessageId
}

/** All messages of a chat, without their texts: 20,000 take some milliseconds. */
const placesOf = (db: Mirror, chat: number, includeOrphans: boolean): readonly Place[] =>
  prepared<Place>(db, PLACES).all({ chat, orphans: Number(includeOrphans) })

/** A shorter beginning must be the whole id. */
const START_MIN = 4

/** The index of the message with this id, or with the only id that begins so. @throws UserError */
function placeOf(all: readonly Place[], start: string): number {
  const whole = all.findIndex(({ id }) => id === start)
  const found = start.length < START_MIN ? [] : all.filter(({ id }) => id.startsWith(start))
  const [only] = found
  if (whole >= 0) return whole
  if (only === undefined) {
    const text = 'No message of this chat has the id given as "around".'
    const hint = 'Orphans are found with includeOrphans=true. Without "around" all messages are listed.'
    throw new UserError('message-not-found', text, hint, { status: 404 })
  }
  if (found.length === 1) return all.indexOf(only)
  const text = `${found.length} messages of the chat have an id that begins with ${start}.`
  throw new UserError('several-messages', text, 'Give more of the id.', { status: 400 })
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
  const keys = placesOf(db, chat, includeOrphans).map(({ key }) => key)
  for (let start = 0; start < keys.length; start += limit) {
    yield inSnapshot(db, () =>
      findChatNum(db, chatId) === chat ? readMessages(db, chatId, keys.slice(start, start + limit)) : null,
    )
  }
}

/** Cursor writes 0 and 0 if it did not count the tokens. That is not a record. */
const MESSAGES_BY_KEY = `
  select
    m.id, iif(m.is_orphan = 1, null, m.position) as position, m.role, m.created_at as createdAt,
    m.created_at_source as createdAtSource, m.model, m.is_orphan = 1 as isOrphan, m.is_simulated as isSimulated,
    1 - m.is_live as deletedInCursor, m.is_index_capped as isIndexCapped, ${SOURCE_NAME},
    case
      when m.input_tokens > 0 or m.output_tokens > 0 then json_object(
        'input', iif(m.input_tokens > 0, m.input_tokens, null),
        'output', iif(m.output_tokens > 0, m.output_tokens, null), 'source', 'recorded'
      )
      when m.estimated_input is not null
        then json_object('input', m.estimated_input, 'output', m.estimated_output, 'source', 'estimated')
    end as tokens, b.parts
  from json_each(?) wanted
  join messages m on m.key = wanted.value
  join sources s on s.num = m.source
  left join bodies b on b.num = m.body
  order by wanted.key
`

/** The messages with these keys and their parts, in the given order. */
export const readMessages = (db: Mirror, chatId: ChatId, keys: readonly number[]): Message[] =>
  prepared<Row & { readonly parts: string | null }>(db, MESSAGES_BY_KEY)
    .all(JSON.stringify(keys))
    .map(({ parts, ...row }) => ({
      ...answerRow<Omit<Message, 'chatId' | 'parts'>>(row, ['tokens']),
      chatId,
      parts: parts === null ? [] : parseParts(parts),
    }))

/** The kinds that are shown, and how their files begin, a character for each byte. An SVG may contain a program. */
const KINDS = [
  { mime: 'image/png', ending: /\.png$/i, beginning: /^\x89PNG\r\n/ },
  { mime: 'image/jpeg', ending: /\.jpe?g$/i, beginning: /^\xff\xd8\xff/ },
  { mime: 'image/gif', ending: /\.gif$/i, beginning: /^GIF8[79]a/ },
  { mime: 'image/webp', ending: /\.webp$/i, beginning: /^RIFF.{4}WEBP/s },
]
export const imageTypes = KINDS.map(({ mime }) => mime)
const BYTES_MAX = 20 * 1024 * 1024

/** Which kind of image a path names, if it may be looked at: asking for a share could send a password to its server. */
const kindOf = (path: string) =>
  isAbsolute(path) && !/^[\\/]{2}/.test(path) ? KINDS.find(({ ending }) => ending.test(path)) : undefined

const IS_HERE = `select machine is null from chats where num = ?`

/** Says of each attached image what is known of its file now. The files of another machine are not here. */
export function withImages(db: Mirror, chat: number, messages: readonly Message[]): readonly Message[] {
  if (prepared<number>(db, IS_HERE).pluck().get(chat) !== 1) return messages
  return messages.map((message) => ({ ...message, parts: message.parts.map((part) => withImage(part, message)) }))
}

function withImage(part: Part, { id, chatId }: Message): Part {
  const kind = part.kind === 'attachment' && part.text === null ? kindOf(part.path) : undefined
  if (part.kind !== 'attachment' || kind === undefined) return part
  const bytes = sizeOf(part.path)
  const href = addressOf('/api/chats/:id/image', { id: chatId, query: { message: id, path: part.path } })
  return { ...part, mime: kind.mime, bytes, exists: bytes !== null, ...(bytes === null ? {} : { href }) }
}

function sizeOf(path: string): number | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.size <= BYTES_MAX ? stat.size : null
  } catch {
    return null
  }
}

const IS_ATTACHED = `
select 1 from messages m join chats c on c.num = m.chat join bodies b on b.num = m.body join json_each(b.parts) part
where c.id = @chat and m.id = @message and c.machine is null
  and part.value ->> 'kind' = 'attachment' and part.value ->> 'path' = @path
`

/** The image that a message of this machine has attached. Null for any other path, and for a file that is no image. */
export function readImage(
  db: Mirror,
  given: { readonly chat: ChatId; readonly message: string; readonly path: string },
) {
  if (kindOf(given.path) === undefined || prepared(db, IS_ATTACHED).get(given) === undefined) return null
  try {
    const bytes = readRegular(given.path, BYTES_MAX)
    const kind = KINDS.find(({ beginning }) => beginning.test(bytes.subarray(0, 16).toString('latin1')))
    return kind === undefined ? null : { mime: kind.mime, bytes: new Uint8Array(bytes) }
  } catch {
    return null
  }
}
