import type { Mirror } from '../../../mirror/open.ts'

const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`

/** Recorded messages that may be copies: another chat has the same id, or the same request. Oldest chats first. */
const MAY_BE_COPIES = `
  with repeated as (
    select key from messages indexed by recorded_ids where ${RECORDED} and id in (
      select id from messages indexed by recorded_ids where ${RECORDED} group by id having min(chat) < max(chat)
    )
    union
    select key from messages indexed by recorded_requests
    where ${RECORDED} and request_id in (
      select request_id from messages indexed by recorded_requests where ${RECORDED} and request_id is not null
      group by request_id having min(chat) < max(chat)
    )
  )
  select m.key, m.chat, m.id, m.request_id as request, coalesce(m.sent_at, m.started_at, m.timing_at) as atMs,
    m.input_tokens as input, m.output_tokens as output, m.content_hash as content
  from repeated join messages m on m.key = repeated.key join chats c on c.num = m.chat
  where c.is_draft = 0
  order by c.created_at is null, c.created_at, c.id, m.key
`

interface Row {
  readonly key: number
  readonly chat: number
  readonly id: string
  readonly request: string | null
  /** The message's own time. */
  readonly atMs: number | null
  readonly input: number | null
  readonly output: number | null
  readonly content: string
}

/**
 * Keys of recorded messages that a forked chat copied. Cursor copies a message under its id, or under a new one with the
 * same request and time. An id alone does not tell, because not every writer of a store makes ids that are used once. The
 * tokens count in the chat that began first, whichever of them was read first; when it is purged, in the next one.
 */
export function readForkCopies(db: Mirror): ReadonlySet<number> {
  const copies = new Set<number>()
  const firstChats = new Map<string, number>()
  for (const { key, chat, id, request, atMs, input, output, content } of db.prepare<[], Row>(MAY_BE_COPIES).iterate()) {
    const ofRequest = request === null || atMs === null ? [] : [JSON.stringify([request, atMs, input, output])]
    for (const name of [JSON.stringify([id, input, output, content]), ...ofRequest]) {
      const first = firstChats.get(name)
      if (first === undefined) firstChats.set(name, chat)
      else if (first !== chat) copies.add(key)
    }
  }
  return copies
}
