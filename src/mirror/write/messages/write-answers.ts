import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { Json } from '../../../model/json.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import type { AnswerWrite, Ask, Batch, MessageWrite } from '../batch.ts'
import { ownTokens, readLent, type LentTokens } from '../../threads/lent-tokens.ts'
import type { HeldMessage } from './message-columns.ts'
import type { Mirror } from '../../open.ts'
import { packMessage } from './pack-message.ts'
import { prepared } from '../../prepared.ts'
import { isPurged } from '../../purge/without-purged.ts'
import { Tombstones } from '../../purge/tombstones.ts'
import { readParts } from './save-message.ts'
import { writeChat, type ChatOutcome } from '../chats/write-chat.ts'
import type { WriteTools } from '../write-tools.ts'

interface AskRow extends Ask {
  readonly num: number
  readonly chat: number
  readonly chatId: ChatId
  readonly source: number
  readonly messageId: MessageId
}

const FIND_ASK = `
select asks.num, chat, chats.id as chatId, asks.source, message_id as messageId, kind, asks.name, path
from asks join chats on chats.num = chat where asks.num = ?
`
const FIND_MESSAGE = `select * from messages where chat = ? and id = ? and source = ? and is_live = 1`
const LIST_LEFT = `select kind, name, path from asks where chat = ? and source = ? and message_id = ?`
const SETTLE = `delete from asks where num = ?`

/** Puts what was found into the messages that asked for it, and settles the asks. */
export function writeAnswers(db: Mirror, batch: Batch, tools: WriteTools): ChatOutcome[] {
  const asked = batch.answers.flatMap((answer) => {
    const ask = prepared<AskRow>(db, FIND_ASK).get(answer.ask)
    return ask === undefined ? [] : [{ ask, answer }]
  })
  if (asked.length === 0) return []
  const tombstones = new Tombstones(db)
  const outcomes: ChatOutcome[] = []
  for (const ofChat of groupBy(asked, ({ ask }) => `${ask.chat} ${ask.source}`)) {
    const [{ ask }] = ofChat
    const lent = readLent(db, ask.chat)
    const complete = groupBy(ofChat, (one) => one.ask.messageId).flatMap(
      (answers) => completed(db, answers, lent) ?? [],
    )
    // What was found for it may be what was purged elsewhere.
    const messages = complete.filter((message) => !isPurged(tombstones, ask.chatId, message))
    const write = { id: ask.chatId, ownRow: { kind: 'unread' as const }, messages, vanished: [] }
    outcomes.push(writeChat(db, write, { ...batch, source: ask.source }, tools))
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

interface Answered {
  readonly ask: AskRow
  readonly answer: AnswerWrite
}

/** Null where the source has lost the message meanwhile. */
function completed(db: Mirror, answers: Group<Answered>, lent: LentTokens): MessageWrite | null {
  const { chat, source, messageId } = answers[0].ask
  const held = prepared<HeldMessage>(db, FIND_MESSAGE).get(chat, messageId, source)
  if (held === undefined) return null
  const before = JSON.parse(readParts(db, held.body)) as readonly Part[]
  const parts = answers.reduce((sum, { ask, answer }) => answered(sum, ask, answer), before)
  for (const { ask } of answers) prepared(db, SETTLE).run(ask.num)
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
    parts,
    isSimulated: held.is_simulated === 1,
    octets: held.octets,
    isEmbedded: held.is_embedded === 1,
    asks: prepared<Ask>(db, LIST_LEFT).all(chat, source, messageId),
  })
}

function answered(parts: readonly Part[], ask: Ask, { value, cappedFrom }: AnswerWrite): readonly Part[] {
  if (ask.kind === 'output') return parts.map((part) => withOutput(part, ask.name, value))
  const text = typeof value === 'string' ? value : null
  const cap = cappedFrom === null ? {} : { cappedFrom }
  return [...parts, { kind: 'attachment', path: ask.path ?? 'content', text, hash: ask.name, ...cap }]
}

const withOutput = (part: Part, callId: string, output: Json): Part =>
  part.kind === 'tool' && part.callId === callId ? { ...part, output, outputFrom: 'blob' } : part
