import { UNTITLED_CHAT } from '../../../model/chat.ts'
import type { Part } from '../../../model/part.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { DURATION } from '../../sum-tables.ts'
import type { TrackedFacts } from '../../usage/tracked.ts'
import { parseParts } from '../../parse-parts.ts'
import type { ChatRow, DerivedChat } from './chat-columns.ts'

type ChatBasis = Pick<ChatRow, 'name' | 'cursor_created_at' | 'cursor_updated_at' | 'cursor_model' | 'octets'>

/** Times taken from the chat or from a neighbour do not tell when something happened, so they are not used. */
const SUM_UP_THREAD = `
select
  count(*) filter (where is_orphan = 0) as message_count,
  count(*) filter (where is_orphan = 0 and role = 'user') as user_message_count,
  coalesce(sum(tool_calls) filter (where is_orphan = 0), 0) as tool_call_count,
  ${DURATION} as duration_ms,
  coalesce(sum(octets) filter (where is_orphan <> 2), 0) as octets,
  count(*) filter (where is_live = 1 and not exists (
    select 1 from outlines where outlines.chat = messages.chat and outlines.source = messages.source
  )) as live_without_row,
  min(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as first_at,
  max(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as last_at
from messages where chat = ?
`

type ThreadSum = Pick<
  ChatRow,
  'message_count' | 'user_message_count' | 'tool_call_count' | 'duration_ms' | 'octets'
> & { readonly live_without_row: number; readonly first_at: number | null; readonly last_at: number | null }

const LIST_MODELS = `
select model, max(position) as last from messages
where chat = ? and is_orphan = 0 and model is not null
group by model order by last desc
`

export function deriveChat(
  db: Mirror,
  chatNum: number,
  basis: ChatBasis,
  tracked: TrackedFacts | null,
): {
  readonly columns: DerivedChat
  /** Number of live messages from sources that never had the chat's own row. */
  readonly liveWithoutRow: number
} {
  const sum = prepared<ThreadSum>(db, SUM_UP_THREAD).get(chatNum)
  if (sum === undefined) throw new Error('an aggregate returned no row')
  const used = prepared<{ model: string }>(db, LIST_MODELS)
    .all(chatNum)
    .map((row) => row.model)
  const own = basis.cursor_model === null ? used : [...new Set([basis.cursor_model, ...used])]
  const models = own.length > 0 ? own : (tracked?.models ?? []).map(([name]) => name)
  return {
    liveWithoutRow: sum.live_without_row,
    columns: {
      ...titleOf(basis.name, readUserParts(db, chatNum)),
      created_at: basis.cursor_created_at ?? sum.first_at ?? tracked?.firstAtMs ?? null,
      last_activity_at:
        sum.last_at ?? basis.cursor_updated_at ?? later(basis.cursor_created_at, tracked?.lastAtMs ?? null),
      model: models[0] ?? null,
      models: JSON.stringify(models),
      model_source: models.length === 0 ? null : own.length > 0 ? 'cursor' : 'tracking',
      message_count: sum.message_count,
      user_message_count: sum.user_message_count,
      tool_call_count: sum.tool_call_count,
      size_bytes: basis.octets + sum.octets,
      duration_ms: sum.duration_ms,
    },
  }
}

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

/** How many of the user's messages are searched for a title. */
export const TITLE_MESSAGES_MAX = 5
const FIRST_USER_BODIES = `
select bodies.parts from messages cross join bodies on bodies.num = messages.body
where messages.chat = ? and messages.is_orphan = 0 and messages.role = 'user' and messages.is_simulated = 0
order by messages.position limit ${TITLE_MESSAGES_MAX}
`
const TITLE_CHARS_MAX = 80

function* readUserParts(db: Mirror, chatNum: number): Generator<readonly Part[]> {
  for (const { parts } of prepared<{ parts: string }>(db, FIRST_USER_BODIES).iterate(chatNum)) {
    yield parseParts(parts)
  }
}

/**
 * The displayed title of a chat: its name, else the first words of the user's first message with text.
 * @param userParts the parts of the user's messages, in order; read only if there is no name
 */
export function titleOf(
  name: string | null,
  userParts: Iterable<readonly Part[]>,
): Pick<DerivedChat, 'title' | 'title_source'> {
  if (name !== null) return { title: name, title_source: 'cursor' }
  for (const parts of userParts) {
    for (const part of parts) {
      const words = part.kind === 'text' ? firstWords(part.text) : ''
      if (words !== '') return { title: words, title_source: 'first-message' }
    }
  }
  return { title: UNTITLED_CHAT, title_source: 'none' }
}

/**
 * The beginning of a text on one line: at most 80 characters. It is cut between words, because half of a key is no longer
 * known as a secret. A word that is longer than a title is cut between characters.
 */
function firstWords(text: string): string {
  const line = text.slice(0, 1000).replace(/\s+/g, ' ').trim()
  const chars = Array.from(line)
  if (chars.length <= TITLE_CHARS_MAX) return line
  const begun = chars.slice(0, TITLE_CHARS_MAX).join('')
  const words = begun.slice(0, begun.lastIndexOf(' ')).trimEnd()
  return `${words === '' || !begun.includes(' ') ? chars.slice(0, TITLE_CHARS_MAX - 1).join('') : words}…`
}
