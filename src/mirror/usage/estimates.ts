import type { Role } from '../../model/message.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** The state of a message when its tokens were counted. Counts of a former state are discarded. */
export interface MessageState {
  readonly key: number
  readonly role: Role
  readonly body: number
  readonly contentHash: string
  readonly octets: number
}

export interface Uncounted extends MessageState {
  readonly parts: readonly Part[]
}

/** Estimated tokens of a message's own text. */
export interface Estimate extends MessageState {
  readonly input: number
  readonly output: number
}

/** A message in a thread that has neither recorded nor estimated tokens. */
const IS_UNCOUNTED = `
is_orphan = 0 and estimated_input is null and ifnull(input_tokens, 0) = 0 and ifnull(output_tokens, 0) = 0
`
const COUNT = `select count(*) as count from messages where ${IS_UNCOUNTED}`
const LIST = `select key from messages where key < ? and ${IS_UNCOUNTED} order by key desc limit ?`

/** How many messages have no token count yet. Scans all messages. */
export function countUncounted(db: Mirror): number {
  return prepared<{ count: number }>(db, COUNT).get()?.count ?? 0
}

/** Keys of the newest uncounted messages below `belowKey`, newest first. */
export function listUncounted(db: Mirror, belowKey: number, limit: number): number[] {
  return prepared<{ key: number }>(db, LIST)
    .all(BigInt(belowKey), limit)
    .map(({ key }) => key)
}

const READ = `
select m.key, m.body, m.content_hash as contentHash, m.octets, m.role, b.parts
from messages m join bodies b on b.num = m.body
where m.key = ?
`

/** Null if no message has this key any more. */
export function readUncounted(db: Mirror, key: number): Uncounted | null {
  const row = prepared<MessageState & { parts: string }>(db, READ).get(BigInt(key))
  return row === undefined ? null : { ...row, parts: JSON.parse(row.parts) as Part[] }
}

const SAVE = `
update messages set estimated_input = @input, estimated_output = @output
where key = @key and role = @role and body = @body and content_hash = @contentHash and octets = @octets
`

/**
 * Saves the counts of messages that did not change since they were counted, in one transaction.
 * @returns how many were saved
 */
export function saveEstimates(db: Mirror, estimates: readonly Estimate[]): number {
  return db.transaction(() =>
    estimates.reduce((saved, estimate) => {
      const { key, role, body, contentHash, octets, input, output } = estimate
      const bound = { key: BigInt(key), role, body: BigInt(body), contentHash, octets, input, output }
      return saved + prepared(db, SAVE).run(bound).changes
    }, 0),
  )()
}

const FORGET = `
update messages set estimated_input = null, estimated_output = null where key = ? and estimated_input is not null
`

/** Clears the estimate of a message whose text or role changed. */
export function forgetEstimate(db: Mirror, key: number): void {
  prepared(db, FORGET).run(BigInt(key))
}
