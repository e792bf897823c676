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
  readonly isSimulated: number
  readonly isOrphan: number
  readonly deletedAtMs: number | null
  readonly source: string
  readonly octets: number
  readonly parts: string
}

/** Copies of what the thread holds are left out: nothing is in them that is not in it. */
const KEYS = `
  select key from messages where chat = ? and is_orphan <> 2 order by is_orphan, position, created_at, id
`
/** By itself, so that nothing long is sorted. */
const MESSAGE = `
  select
    m.id, m.alias, m.position, m.role, m.sent_at as sentAtMs, m.started_at as startedAtMs, m.timing_at as timingAtMs,
    m.model, m.input_tokens as inputTokens, m.output_tokens as outputTokens, m.is_simulated as isSimulated,
    m.is_orphan as isOrphan, m.deleted_at as deletedAtMs, s.kind as source, m.octets, b.parts
  from messages m
  join bodies b on b.num = m.body
  join sources s on s.num = m.source
  where m.key = ?
`

/**
 * The messages of a chat, the thread first, each as its line in an object. Their parts are kept as JSON, and are taken
 * as they are kept. The caller's transaction must outlive the iteration.
 */
export function* readMessageLines(db: Mirror, num: number): Generator<string> {
  for (const { key } of prepared<{ key: number }>(db, KEYS).all(num)) {
    const row = prepared<MessageRow>(db, MESSAGE).get(key)
    // Within one transaction nothing goes.
    if (row === undefined) throw new Error('a message of a chat is gone')
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
    // As in Cursor's own rows, 0 is what was not recorded.
    row.inputTokens === null && row.outputTokens === null
      ? null
      : { input: row.inputTokens ?? 0, output: row.outputTokens ?? 0 },
  isSimulated: row.isSimulated === 1,
  isOrphan: row.isOrphan === 1,
  deletedAt: toIso(row.deletedAtMs),
  source: row.source,
  octets: row.octets,
})
