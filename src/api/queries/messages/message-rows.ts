import { asMessageId } from '../../../model/ids.ts'
import type { ChatId } from '../../../model/ids.ts'
import { recordedTokens, type Role, type TimeSource } from '../../../model/message.ts'
import { HUB } from '../../../mirror/sources/sources.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { toIso } from '../../iso.ts'
import type { Message, Tokens } from '../../answers/messages.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

interface MessageRow {
  readonly id: string
  readonly role: string
  readonly position: number | null
  readonly createdAtMs: number | null
  readonly createdAtSource: string | null
  readonly model: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly estimatedInput: number | null
  readonly estimatedOutput: number | null
  readonly isOrphan: number
  readonly isSimulated: number
  readonly isLive: number
  readonly isIndexCapped: number
  readonly source: string
  readonly parts: string | null
}

const MESSAGES_BY_KEY = `
  select
    m.id, m.role, m.position, m.created_at as createdAtMs, m.created_at_source as createdAtSource, m.model,
    m.input_tokens as inputTokens, m.output_tokens as outputTokens,
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput,
    m.is_orphan as isOrphan, m.is_simulated as isSimulated, m.is_live as isLive, m.is_index_capped as isIndexCapped,
    case s.kind when '${HUB}' then s.path else s.kind end as source, b.parts
  from json_each(?) wanted
  join messages m on m.key = wanted.value
  join sources s on s.num = m.source
  left join bodies b on b.num = m.body
  order by wanted.key
`

/** The messages with these keys and their parts, in the given order. */
export function readMessages(db: Mirror, chatId: ChatId, keys: readonly number[]): Message[] {
  const rows = db.prepare<[string], MessageRow>(MESSAGES_BY_KEY).all(JSON.stringify(keys))
  return rows.map((row) => toMessage(row, chatId))
}

function toMessage(row: MessageRow, chatId: ChatId): Message {
  return {
    id: asMessageId(row.id),
    chatId,
    position: row.isOrphan === 1 ? null : row.position,
    role: row.role as Role,
    createdAt: toIso(row.createdAtMs),
    createdAtSource: row.createdAtSource as TimeSource | null,
    model: row.model,
    tokens: toTokens(row),
    parts: row.parts === null ? [] : parseParts(row.parts),
    isOrphan: row.isOrphan === 1,
    isSimulated: row.isSimulated === 1,
    deletedInCursor: row.isLive === 0,
    isIndexCapped: row.isIndexCapped === 1,
    source: row.source,
  }
}

/** Cursor writes 0 and 0 if it did not count. That is not a record. */
function toTokens({ inputTokens, outputTokens, estimatedInput, estimatedOutput }: MessageRow): Tokens | null {
  const recorded = recordedTokens(inputTokens, outputTokens)
  if (recorded !== null) return { ...recorded, source: 'recorded' }
  if (estimatedInput === null || estimatedOutput === null) return null
  return { input: estimatedInput, output: estimatedOutput, source: 'estimated' }
}
