import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { Json } from '../../../model/json.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import type { AnswerWrite, PendingReference, Batch, MessageWrite } from '../batch.ts'
import { ownTokens, readLent, type LentTokens } from '../../threads/placeholders.ts'
import { readParts, type HeldMessage } from './messages.ts'
import type { Mirror } from '../../open.ts'
import { packMessage } from './pack-message.ts'
import { prepared } from '../../prepared.ts'
import { Bars } from '../../purge/bars.ts'
import { writeChat, type ChatOutcome } from '../chats/write-chat.ts'
import type { WriteTools } from '../write-tools.ts'
import { isSubstitute, parseParts } from '../../parse-parts.ts'

interface ReferenceRow extends PendingReference {
  readonly num: number
  readonly chat: number
  readonly chatId: ChatId
  readonly source: number
  readonly messageId: MessageId
}

const FIND_REFERENCE = `
select asks.num, chat, chats.id as chatId, asks.source, message_id as messageId, kind, asks.name, path
from asks join chats on chats.num = chat where asks.num = ?
`
const FIND_MESSAGE = `select * from messages where chat = ? and id = ? and source = ? and is_live = 1`
const LIST_LEFT = `select kind, name, path from asks where chat = ? and source = ? and message_id = ?`
const SETTLE = `delete from asks where num = ?`

/** Adds found content to the messages that refer to it, and deletes these pending references. */
export function writeAnswers(db: Mirror, batch: Batch, tools: WriteTools): ChatOutcome[] {
  const pending = batch.answers.flatMap((answer) => {
    const reference = prepared<ReferenceRow>(db, FIND_REFERENCE).get(answer.ask)
    return reference === undefined ? [] : [{ reference, answer }]
  })
  if (pending.length === 0) return []
  const bars = new Bars(db)
  const outcomes: ChatOutcome[] = []
  for (const ofChat of groupBy(pending, ({ reference }) => `${reference.chat} ${reference.source}`)) {
    const [{ reference }] = ofChat
    const lent = readLent(db, reference.chat)
    const found = groupBy(ofChat, (one) => one.reference.messageId).flatMap(
      (answers) => complete(db, answers, lent) ?? [],
    )
    // The found content may be something that was purged elsewhere.
    const messages = found.filter(
      ({ id, partsJson }) => !bars.hasMessage(reference.chatId, id, () => parseParts(partsJson)),
    )
    const write = { id: reference.chatId, ownRow: { kind: 'unread' as const }, messages, vanished: [] }
    outcomes.push(writeChat(db, write, { ...batch, source: reference.source }, tools))
  }
  return outcomes
}

type Group<Item> = readonly [Item, ...Item[]]

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Group<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return [...groups.values()]
}

interface FoundContent {
  readonly reference: ReferenceRow
  readonly answer: AnswerWrite
}

/** Null if the source has lost the message meanwhile, or its stored text is damaged: reading it again finds them again. */
function complete(db: Mirror, answers: Group<FoundContent>, lent: LentTokens): MessageWrite | null {
  const { chat, source, messageId } = answers[0].reference
  const held = prepared<HeldMessage>(db, FIND_MESSAGE).get(chat, messageId, source)
  if (held === undefined) return null
  const before = parseParts(readParts(db, held.body))
  const parts = answers.reduce((sum, { reference, answer }) => addContent(sum, reference, answer), before)
  for (const { reference } of answers) prepared(db, SETTLE).run(reference.num)
  if (isSubstitute(before)) return null
  const { input_tokens: input, output_tokens: output } = ownTokens(held, lent)
  return packMessage({
    id: held.id,
    alias: held.alias,
    role: held.role,
    sentAtMs: held.sent_at,
    startedAtMs: held.started_at,
    timingAtMs: held.timing_at,
    model: held.model,
    tokens: recordedTokens(input, output),
    requestId: held.request_id,
    parts,
    isSimulated: held.is_simulated === 1,
    octets: held.octets,
    isEmbedded: held.is_embedded === 1,
    asks: prepared<PendingReference>(db, LIST_LEFT).all(chat, source, messageId),
  })
}

function addContent(
  parts: readonly Part[],
  reference: PendingReference,
  { value, cappedFrom }: AnswerWrite,
): readonly Part[] {
  if (reference.kind === 'output') return parts.map((part) => withOutput(part, reference.name, value))
  const text = typeof value === 'string' ? value : null
  const cap = cappedFrom === null ? {} : { cappedFrom }
  return [...parts, { kind: 'attachment', path: reference.path ?? 'content', text, hash: reference.name, ...cap }]
}

const withOutput = (part: Part, callId: string, output: Json): Part =>
  part.kind === 'tool' && part.callId === callId ? { ...part, output, outputFrom: 'blob' } : part
