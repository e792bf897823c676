import type { ArchivedMessage } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { toIso } from '../../iso.ts'

interface MessageRow {
  readonly id: string
  readonly alias: string | null
  readonly position: number | null
  readonly role: string
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
  readonly model: string | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly requestId: string | null
  readonly isSimulated: number
  readonly isOrphan: number
  readonly deletedAtMs: number | null
  readonly source: string
  readonly octets: number
  readonly parts: string
}

/** Copies of messages in the thread are left out: they contain nothing else. */
const KEYS = `
  select key from messages where chat = ? and is_orphan <> 2 order by is_orphan, position, created_at, id
`
/** Read one by one, so that SQLite does not sort long rows. */
const MESSAGE = `
  select
    m.id, m.alias, m.position, m.role, m.sent_at as sentAtMs, m.started_at as startedAtMs, m.timing_at as timingAtMs,
    m.model, m.input_tokens as inputTokens, m.output_tokens as outputTokens, m.request_id as requestId,
    m.is_simulated as isSimulated, m.is_orphan as isOrphan, m.deleted_at as deletedAtMs, s.kind as source, m.octets, b.parts
  from messages m
  join bodies b on b.num = m.body
  join sources s on s.num = m.source
  where m.key = ?
`

/**
 * The messages of a chat as lines of an archive object, the thread first. The parts are stored as JSON and copied
 * unchanged. The caller's transaction must outlive the iteration.
 */
export function* readMessageLines(db: Mirror, num: number): Generator<string> {
  for (const { key } of prepared<{ key: number }>(db, KEYS).all(num)) {
    const row = prepared<MessageRow>(db, MESSAGE).get(key)
    // No row can disappear within one transaction.
    if (row === undefined) throw new Error('a message of the chat is missing')
    yield `${JSON.stringify(headOf(row)).slice(0, -1)},"parts":${row.parts}}\n`
  }
}

const headOf = (row: MessageRow): Omit<ArchivedMessage, 'parts'> => ({
  id: row.id,
  alias: row.alias,
  position: row.isOrphan === 1 ? null : row.position,
  role: row.role as ArchivedMessage['role'],
  sentAt: toIso(row.sentAtMs),
  startedAt: toIso(row.startedAtMs),
  timingAt: toIso(row.timingAtMs),
  model: row.model,
  tokens:
    // As in Cursor's own rows, 0 means not recorded.
    row.inputTokens === null && row.outputTokens === null
      ? null
      : { input: row.inputTokens ?? 0, output: row.outputTokens ?? 0 },
  ...(row.requestId === null ? {} : { requestId: row.requestId }),
  isSimulated: row.isSimulated === 1,
  isOrphan: row.isOrphan === 1,
  deletedAt: toIso(row.deletedAtMs),
  source: row.source,
  octets: row.octets,
})
