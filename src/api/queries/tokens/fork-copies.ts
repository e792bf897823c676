import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'

const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`

/** In one chat: where another chat has the same id, or the same request. */
const OF_CHAT = `
  select key from messages indexed by recorded_ids where ${RECORDED} and id in (
    select id from messages indexed by recorded_tokens where chat = @chat and ${RECORDED}
  )
  union
  select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
    select request_id from messages indexed by recorded_tokens where chat = @chat and ${RECORDED}
  )
`
const OF_ALL = `
  select key from messages indexed by recorded_ids where ${RECORDED} and id in (
    select id from messages indexed by recorded_ids where ${RECORDED} group by id having min(chat) < max(chat)
  )
  union
  select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
    select request_id from messages indexed by recorded_requests where ${RECORDED} and request_id is not null
    group by request_id having min(chat) < max(chat)
  )
`

/** Recorded messages that may be copies, those of the oldest chats first. */
const mayBeCopies = (repeated: string): string => `
  with repeated as (${repeated})
  select m.key, m.chat, m.id, m.request_id as request, m.input_tokens as input, m.output_tokens as output,
    m.content_hash as content, iif(m.created_at_source in ('message', 'header', 'timing'), m.created_at, null) as ownMs
  from repeated join messages m on m.key = repeated.key join chats c on c.num = m.chat
  where c.is_draft = 0
  order by c.created_at is null, c.created_at, c.id, m.key
`

interface Row {
  readonly key: number
  readonly chat: number
  readonly id: string
  readonly request: string | null
  /** The message's own time, in epoch milliseconds. */
  readonly ownMs: number | null
  readonly input: number | null
  readonly output: number | null
  readonly content: string
}

/**
 * Keys of recorded messages that a forked chat copied, as JSON. Cursor copies a message under its id, or under a new one
 * with the same request and time. An id alone does not tell, because not every writer of a store makes ids that are used
 * once. The tokens count in the chat that began first, whichever of them was read first; when it is purged, in the next
 * one.
 * @param chat the number of the chat whose copies are wanted; null for those of all chats
 */
export function listForkCopies(db: Mirror, chat: number | null): string {
  const copies = new Set<number>()
  const firstChats = new Map<string, number>()
  const found = prepared<Row>(db, mayBeCopies(chat === null ? OF_ALL : OF_CHAT)).iterate({ chat })
  for (const { key, chat: of, id, request, ownMs, input, output, content } of found) {
    const ofRequest = request === null ? [] : [JSON.stringify([request, ownMs, input, output])]
    for (const name of [JSON.stringify([id, input, output, content]), ...ofRequest]) {
      const first = firstChats.get(name)
      if (first === undefined) firstChats.set(name, of)
      else if (first !== of) copies.add(key)
    }
  }
  return JSON.stringify([...copies])
}

/** SQL expression over a message `m`. `@copies` is the result of `listForkCopies`. */
export const IS_FORK_COPY = `m.key in (select value from json_each(@copies))`

/** SQL expression: the recorded tokens that count in the message's chat; null if none are recorded. */
export const countedTokens = (column: 'input_tokens' | 'output_tokens'): string =>
  `iif(m.${column} > 0, iif(${IS_FORK_COPY}, 0, m.${column}), null)`
