import type { ChatId } from '../../../model/ids.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { Message, Tokens } from '../../answers/messages.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'
import { answerRow, SOURCE_NAME, type Row } from '../answer-row.ts'

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
