import type { MessageId } from '../../model/ids.ts'
import { recordedTokens, type Role, type Placeholder } from '../../model/message.ts'
import type { ChatWrite } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const IS_ANY_HELD = `select 1 from placeholders where chat = ? and source = ? limit 1`
const DROP = `delete from placeholders where chat = ? and source = ? and id = ?`
const SAVE = `
insert into placeholders (chat, source, id, alias, role, sent_at, started_at, timing_at, input, output)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (chat, source, id) do update set
  alias = excluded.alias, role = excluded.role, sent_at = excluded.sent_at, started_at = excluded.started_at,
  timing_at = excluded.timing_at, input = excluded.input, output = excluded.output
`

/**
 * Updates the placeholders of a chat. A placeholder whose row is gone stays, as a message does. It is deleted if its row
 * now contains a message or no longer records tokens.
 */
export function notePlaceholders(db: Mirror, chat: number, source: number, write: ChatWrite): void {
  const placeholders = [...(write.placeholders ?? [])]
  if (placeholders.length + write.messages.length === 0) return
  if (prepared(db, IS_ANY_HELD).get(chat, source) !== undefined) {
    for (const { id } of write.messages) prepared(db, DROP).run(chat, source, id)
    for (const [id, placeholder] of placeholders) if (placeholder === null) prepared(db, DROP).run(chat, source, id)
  }
  for (const [id, placeholder] of placeholders) {
    if (placeholder === null) continue
    const { alias, role, sentAtMs, startedAtMs, timingAtMs, tokens } = placeholder
    const times = [sentAtMs, startedAtMs, timingAtMs]
    prepared(db, SAVE).run(chat, source, id, alias, role, ...times, tokens.input, tokens.output)
  }
}

const LIST = `
select id, alias, role, sent_at as sentAtMs, started_at as startedAtMs, timing_at as timingAtMs, input, output
from placeholders where chat = ? and source = ?
`

interface Row extends Omit<Placeholder, 'tokens'> {
  readonly id: MessageId
  readonly role: Role
  readonly input: number | null
  readonly output: number | null
}

/** A source's rows of a chat that record tokens but contain nothing to show. */
export const listPlaceholders = (db: Mirror, chat: number, source: number): Placeholder[] =>
  prepared<Row>(db, LIST)
    .all(chat, source)
    .flatMap(({ input, output, ...row }) => {
      const tokens = recordedTokens(input, output)
      return tokens === null ? [] : [{ ...row, tokens }]
    })
