import type { ChatFacts } from '../../../model/change.ts'
import { type JsonRecord, filledString, parseJson, readTime } from './json.ts'
import { decodeStepCall } from './step-call.ts'
import { bytesIn, hexBytes, messageIn, numberAt, readWire, textIn, type WireField } from './wire.ts'

/** One place in a thread, according to its state: the id of a blob, or the message itself. */
export type StateEntry =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'inline'; readonly bytes: Buffer }

/** What the model saw of a chat, as the ids of blobs. */
export interface ConversationState {
  readonly entries: readonly StateEntry[]
  /** Ids of the turns, which describe the thread a second time. No duplicates. */
  readonly turns: readonly string[]
  /** Ids of what summaries replaced in `entries`, oldest first. */
  readonly archives: readonly string[]
  readonly contextTokens: ChatFacts['contextTokens']
  readonly workspaceUris: readonly string[]
  readonly startedAtMs: number | null
  /** A time of each turn, in order, if it has one for each; otherwise empty. */
  readonly turnTimes: readonly (number | null)[]
  /** The chats of subagents that it knows. */
  readonly childIds: readonly string[]
  /** What the chat was told to reach, if that is not reached yet or was. */
  readonly goal: string | null
}

const MESSAGE = 1
const OLD_TURN = 2
const TOKENS = 5
const TURN = 8
const WORKSPACE = 9
const OLD_ARCHIVE = 11
const ARCHIVE = 13
const TURN_TIMING = 14
const CHILD_STATE = 16
const CHILD_REFERENCE = 31
const CHILD_RUN = 30
const GOAL = 32
const STARTED = 26
const ID_BYTES = 32

/** Total: null for bytes that are not a state, or contain no known field. */
export function decodeConversationState(bytes: Buffer): ConversationState | null {
  const fields = readWire(bytes)
  if (fields === null) return null
  const state = {
    entries: fields.flatMap(readEntry),
    // The old field has the same ids; only stores of old builds have no other.
    turns: firstList(fields, TURN, OLD_TURN),
    archives: firstList(fields, ARCHIVE, OLD_ARCHIVE),
    contextTokens: readTokens(fields),
    workspaceUris: bytesIn(fields, WORKSPACE).flatMap((uri) => filledString(uri.toString('utf8')) ?? []),
    startedAtMs: readTime(numberAt(fields, STARTED)),
    turnTimes: readTurnTimes(fields),
    childIds: readChildIds(fields),
    goal: textIn(messageIn(fields, GOAL), 3),
  }
  const isKnown = Object.values(state).some((value) => value !== null && (!Array.isArray(value) || value.length > 0))
  return isKnown || bytes.length === 0 ? state : null
}

/** Without a time for each turn, nobody knows which turn a time belongs to. */
function readTurnTimes(fields: readonly WireField[]): readonly (number | null)[] {
  const times = bytesIn(fields, TURN_TIMING).map((timing) => {
    const atMs = numberAt(readWire(timing) ?? [], 2) ?? 0
    return atMs >= EARLIEST_MS && atMs < LATEST_MS ? atMs : null
  })
  return times.length === firstList(fields, TURN, OLD_TURN).length ? times : []
}

/** Two maps have the ids as their keys, and the runs of subagents name them. */
function readChildIds(fields: readonly WireField[]): readonly string[] {
  const keys = [CHILD_STATE, CHILD_REFERENCE].flatMap((number) =>
    bytesIn(fields, number).map((entry) => textIn(readWire(entry) ?? [], 1)),
  )
  const runs = bytesIn(fields, CHILD_RUN).map((entry) => textIn(messageIn(readWire(entry) ?? [], 2), 2))
  return [...new Set([...keys, ...runs].filter((id) => id !== null))]
}

function readEntry({ number, value }: WireField): StateEntry[] {
  if (number !== MESSAGE || !Buffer.isBuffer(value)) return []
  // A message can be as short as an id.
  const isId = value.length === ID_BYTES && parseJson(value.toString('utf8')) === null
  return [isId ? { kind: 'blob', id: value.toString('hex') } : { kind: 'inline', bytes: value }]
}

const idsIn = (fields: readonly WireField[], number: number): readonly string[] =>
  bytesIn(fields, number).flatMap((id) => (id.length === ID_BYTES ? [id.toString('hex')] : []))

/** The ids of the first of these fields that has any. */
const firstList = (fields: readonly WireField[], ...numbers: readonly number[]): readonly string[] => [
  ...new Set(numbers.map((number) => idsIn(fields, number)).find((ids) => ids.length > 0)),
]

/** 2023 to 2100: other numbers in varints are far outside this range. */
const EARLIEST_MS = Date.UTC(2023, 0)
const LATEST_MS = Date.UTC(2100, 0)

/** The earliest time among the varints of a message, because a call also has one for its end. Null if there is none. */
function earliestTime(fields: readonly WireField[]): number | null {
  const times = fields.flatMap(({ value }) =>
    typeof value === 'number' && value >= EARLIEST_MS && value < LATEST_MS ? [value] : [],
  )
  return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
}

function readTokens(fields: readonly WireField[]): ConversationState['contextTokens'] {
  const counts = readWire(bytesIn(fields, TOKENS).at(-1) ?? Buffer.alloc(0)) ?? []
  const positive = (number: number): number | null => numberAt(counts, number) || null
  const [used, limit] = [positive(1), positive(2)]
  return used === null && limit === null ? null : { used, limit }
}

/** The ids of the messages that one summary replaced, in order, and of that summary. Null for bytes that are not an archive. */
export function decodeArchive(
  bytes: Buffer,
): { readonly messages: readonly string[]; readonly summary: string | null; readonly text: string | null } | null {
  const fields = readWire(bytes) ?? []
  const archive = { messages: idsIn(fields, 1), summary: idsIn(fields, 4)[0] ?? null, text: textIn(fields, 2) }
  return archive.messages.length === 0 ? null : archive
}

interface StateTurn {
  readonly userMessage: string | null
  readonly steps: readonly string[]
  /** Epoch milliseconds; null if the turn has no time. */
  readonly atMs: number | null
}

/** A turn's blob: the ids of a prompt and of its steps, directly or one level deeper. */
export function decodeTurn(bytes: Buffer): StateTurn | null {
  const fields = readWire(bytes)
  return fields === null ? null : (turnOf(fields) ?? turnOf(messageIn(fields, 1)))
}

function turnOf(fields: readonly WireField[]): StateTurn | null {
  const userMessage = idsIn(fields, 1)[0] ?? null
  const steps = idsIn(fields, 2)
  return userMessage === null && steps.length === 0 ? null : { userMessage, steps, atMs: earliestTime(fields) }
}

/** A prompt or a step of a turn, which is a blob. */
export interface StateStep {
  readonly atMs: number | null
  /** As in a message of the model's. */
  readonly content: string | readonly JsonRecord[]
  /** Short texts of a call and its arguments. The call's id is one of them in old builds; its field depends on the tool. */
  readonly texts: readonly string[]
  /** The blob with the text of a prompt that has none itself. */
  readonly textBlob?: string
}

const TEXT_BLOB = 18

/** A turn's prompt; null if the blob has none. */
export function decodeTurnMessage(bytes: Buffer): StateStep | null {
  const fields = readWire(bytes) ?? []
  const text = textIn(fields, 1)
  const [textBlob] = text === null ? idsIn(fields, TEXT_BLOB) : []
  const prompt = { content: text ?? '', atMs: earliestTime(fields), texts: [] }
  return text === null && textBlob === undefined ? null : { ...prompt, ...(textBlob === undefined ? {} : { textBlob }) }
}

/** Null for an unknown kind of step. */
export function decodeStep(bytes: Buffer): StateStep | null {
  const fields = readWire(bytes) ?? []
  const [field] = fields
  const inner = field !== undefined && Buffer.isBuffer(field.value) ? readWire(field.value) : null
  if (field === undefined || inner === null) return null
  if (field.number === 2) return { ...decodeStepCall(inner), atMs: callTime(fields, inner) }
  if (field.number !== 1 && field.number !== 3) return null
  const kind = field.number === 1 ? { type: 'text' } : { type: 'reasoning', durationMs: numberAt(inner, 2) }
  const text = textIn(inner, 1)
  return { content: text === null ? [] : [{ ...kind, text }], atMs: earliestTime([...fields, ...inner]), texts: [] }
}

/** Without the times in the arguments and the result, which have another meaning. */
const callTime = (step: readonly WireField[], call: readonly WireField[]): number | null => {
  const [tool] = call
  const value = tool !== undefined && Buffer.isBuffer(tool.value) ? (readWire(tool.value) ?? []) : []
  return earliestTime([...step, ...call, ...value])
}

/** The bytes of a state; null if the text is neither base64 nor hex. */
export function decodeStateText(text: string): Buffer | null {
  return hexBytes(text) ?? (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null)
}
