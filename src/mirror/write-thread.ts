import type { MessageId } from '../model/ids.ts'
import { noteAsks } from './asks.ts'
import type { ChatWrite, MessageWrite } from './batch.ts'
import { writeDigest, type CountedMessage } from './digests/write-digest.ts'
import { listHeldMessages } from './held-messages.ts'
import type { HeldMessage, MessageColumns, NextMessage } from './message-columns.ts'
import type { Mirror } from './open.ts'
import { placeAll, type Place, type ThreadWrite } from './place-thread.ts'
import { saveMessage } from './save-message.ts'
import { withAnswers } from './with-answers.ts'

export interface ThreadOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  /** Every message of the chat, of every source, as it stands now. */
  readonly all: readonly MessageColumns[]
}

/**
 * Brings the messages of one chat to what the source says, and gives all of them their place: a new list or a new
 * neighbour can move a message that was itself not touched.
 */
export function writeThread(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  const held = thread.isNew ? [] : listHeldMessages(db, thread.chatNum)
  const others = held.filter(({ source }) => source !== thread.source).map(unchanged)
  const own = new Map<MessageId, NextMessage>()
  for (const message of held.filter(({ source }) => source === thread.source)) {
    own.set(message.id, { held: message, columns: keepOrLose(message, thread), partsJson: null, calls: null })
  }
  for (const message of thread.write.messages) {
    const before = own.get(message.id)?.held ?? null
    const whole = withAnswers(db, before, message)
    noteAsks(db, { chat: thread.chatNum, source: thread.source, messageId: message.id }, whole, before === null)
    own.set(message.id, readAgain(before, whole, thread.source))
  }
  const counted: CountedMessage[] = []
  const outcome = { added: 0, changed: 0, gone: 0, messageIds: [] as MessageId[], all: [] as MessageColumns[] }
  for (const [message, place] of placeAll(db, thread, [...own.values(), ...others])) {
    const { held: before, partsJson, calls } = message
    if (before !== null && stands(message, place)) {
      outcome.all.push(before)
      counted.push({ body: before.body, columns: before, calls })
      continue
    }
    const placed = { held: before, columns: placedColumns(message.columns, place), partsJson, calls }
    outcome.all.push(placed.columns)
    const savedBody = saveMessage(db, thread.tools, thread.chatNum, placed)
    counted.push({ body: savedBody ?? before?.body ?? 0, columns: placed.columns, calls })
    if (savedBody === null) continue
    if (!thread.isPrompts) notePrompts(thread, placed)
    if (message.held === null) outcome.added += 1
    else if (message.held.is_live === 1 && message.columns.is_live === 0) outcome.gone += 1
    else outcome.changed += 1
    outcome.messageIds.push(message.columns.id)
  }
  if (outcome.messageIds.length > 0) writeDigest(db, thread.tools.words, thread.chatNum, counted)
  return outcome
}

const unchanged = (held: HeldMessage): NextMessage => ({ held, columns: held, partsJson: null, calls: null })

/** Of a long chat in which one message was written, nearly all others: they need not be compared column by column. */
const stands = ({ held, columns }: NextMessage, place: Place): boolean =>
  columns === held &&
  place.position === held.position &&
  place.created_at === held.created_at &&
  place.created_at_source === held.created_at_source &&
  place.is_orphan === held.is_orphan &&
  place.is_shadowed === held.is_shadowed

/** A prompt whose words a chat begins or ceases to hold counts no longer, or again. */
function notePrompts({ tools }: ThreadWrite, { held, columns }: NextMessage): void {
  if (held?.user_text === columns.user_text) return
  tools.prompts.note(held?.user_text ?? null)
  tools.prompts.note(columns.user_text)
}

/** Written out: to spread one object over another is slow, and this is done for every message. */
function placedColumns(columns: MessageColumns, place: Place): MessageColumns {
  const { position, created_at, created_at_source, is_orphan, is_shadowed } = place
  return {
    source: columns.source,
    id: columns.id,
    role: columns.role,
    alias: columns.alias,
    position,
    created_at,
    created_at_source,
    sent_at: columns.sent_at,
    started_at: columns.started_at,
    timing_at: columns.timing_at,
    model: columns.model,
    input_tokens: columns.input_tokens,
    output_tokens: columns.output_tokens,
    is_orphan,
    is_shadowed,
    is_simulated: columns.is_simulated,
    is_embedded: columns.is_embedded,
    is_live: columns.is_live,
    deleted_at: columns.deleted_at,
    tool_calls: columns.tool_calls,
    octets: columns.octets,
    content_hash: columns.content_hash,
    user_text: columns.user_text,
    text_keys: columns.text_keys,
    marks: columns.marks,
    is_index_capped: columns.is_index_capped,
  }
}

/** What becomes of a message that this pass did not read. */
function keepOrLose(held: HeldMessage, { write, nowMs }: ThreadWrite): MessageColumns {
  if (held.is_live === 0) return held
  const isLost = held.is_embedded === 1 ? lostItsPlace(held.id, write.ownRow) : write.vanished.includes(held.id)
  return isLost ? { ...held, is_live: 0, deleted_at: nowMs } : held
}

function lostItsPlace(id: MessageId, ownRow: ChatWrite['ownRow']): boolean {
  if (ownRow.kind === 'gone') return true
  return ownRow.kind === 'read' && !ownRow.embeddedIds.has(id)
}

function readAgain(held: HeldMessage | null, message: MessageWrite, source: number): NextMessage {
  const columns: MessageColumns = {
    source,
    id: message.id,
    role: message.role,
    alias: message.alias,
    position: held?.position ?? null,
    created_at: held?.created_at ?? null,
    created_at_source: held?.created_at_source ?? null,
    sent_at: message.sentAtMs,
    started_at: message.startedAtMs,
    timing_at: message.timingAtMs,
    model: message.model,
    input_tokens: message.tokens?.input ?? null,
    output_tokens: message.tokens?.output ?? null,
    is_orphan: held?.is_orphan ?? 0,
    is_shadowed: held?.is_shadowed ?? 0,
    is_simulated: message.isSimulated ? 1 : 0,
    is_embedded: message.isEmbedded ? 1 : 0,
    is_live: message.remembered ? 0 : 1,
    deleted_at: message.remembered?.deletedAtMs ?? null,
    tool_calls: message.toolCalls,
    octets: message.octets,
    content_hash: message.contentHash,
    user_text: message.userText,
    text_keys: message.textKeys,
    marks: message.marks,
    is_index_capped: message.isIndexCapped ? 1 : 0,
  }
  return { held, columns, partsJson: message.partsJson, calls: message.calls }
}
