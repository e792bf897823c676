import type { ChatFacts } from '../../../model/change.ts'
import { type JsonRecord, filledString, parseJson, readTime } from './json.ts'

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
}

const MESSAGE = 1
const OLD_TURN = 2
const TOKENS = 5
const TURN = 8
const WORKSPACE = 9
const OLD_ARCHIVE = 11
const ARCHIVE = 13
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
  }
  const isKnown = Object.values(state).some((value) => value !== null && (!Array.isArray(value) || value.length > 0))
  return isKnown || bytes.length === 0 ? state : null
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
): { readonly messages: readonly string[]; readonly summary: string | null } | null {
  const fields = readWire(bytes) ?? []
  const archive = { messages: idsIn(fields, 1), summary: idsIn(fields, 4)[0] ?? null }
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
  /** Short texts of a call and its arguments. The call's id is one of them; its field depends on the tool. */
  readonly texts: readonly string[]
}

/** A turn's prompt; null if the blob has none. */
export function decodeTurnMessage(bytes: Buffer): StateStep | null {
  const fields = readWire(bytes) ?? []
  const text = textIn(fields, 1)
  return text === null ? null : { content: text, atMs: earliestTime(fields), texts: [] }
}

/** Null for an unknown kind of step. */
export function decodeStep(bytes: Buffer): StateStep | null {
  const fields = readWire(bytes) ?? []
  const [field] = fields
  const inner = field !== undefined && Buffer.isBuffer(field.value) ? readWire(field.value) : null
  if (field === undefined || inner === null) return null
  if (field.number === 2) return decodeCall(fields, inner)
  if (field.number !== 1 && field.number !== 3) return null
  const kind = field.number === 1 ? { type: 'text' } : { type: 'reasoning', durationMs: numberAt(inner, 2) }
  const text = textIn(inner, 1)
  return { content: text === null ? [] : [{ ...kind, text }], atMs: earliestTime([...fields, ...inner]), texts: [] }
}

/** By field number: the tool's name, and names for the first fields of its arguments. */
const tools: ReadonlyMap<number, readonly [name: string, ...args: string[]]> = new Map([
  [1, ['shell', 'command', 'working_directory']],
  [3, ['delete', 'path']],
  [4, ['glob']],
  [5, ['grep']],
  [8, ['read', 'path']],
  [9, ['update_todos']],
  [10, ['read_todos']],
  [12, ['edit', 'path']],
  [13, ['ls', 'path']],
  [14, ['read_lints']],
  [15, ['mcp']],
  [16, ['semantic_search']],
  [17, ['create_plan']],
  [18, ['web_search']],
  [19, ['task']],
  [24, ['fetch']],
])

const CALL_ID_BYTES_MAX = 200

/** Every tool has its own message type for its arguments. For most of them only the tool is known. */
function decodeCall(step: readonly WireField[], fields: readonly WireField[]): StateStep {
  const [call] = fields
  const [toolName = 'unknown', ...named] = tools.get(call?.number ?? 0) ?? []
  const value = call !== undefined && Buffer.isBuffer(call.value) ? (readWire(call.value) ?? []) : []
  const args = messageIn(value, 1)
  const input = named.flatMap((name, index) => {
    const text = textIn(args, index + 1)
    return text === null ? [] : [[name, text] as const]
  })
  const texts = [...fields, ...value, ...args].flatMap((each) =>
    Buffer.isBuffer(each.value) && each.value.length <= CALL_ID_BYTES_MAX ? [each.value.toString('utf8')] : [],
  )
  return {
    content: [{ type: 'tool-call', toolName, input: Object.fromEntries(input) }],
    texts,
    // Without the times in the arguments and the result, which have another meaning.
    atMs: earliestTime([...step, ...fields, ...value]),
  }
}

/** The bytes of a state; null if the text is neither base64 nor hex. */
export function decodeStateText(text: string): Buffer | null {
  if (text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null
}

/**
 * One field of a protobuf message. Varints are numbers. Fields with a length are bytes, and may be messages themselves.
 */
export interface WireField {
  readonly number: number
  readonly value: number | Buffer
}

const VARINT = 0
const FIXED_64 = 1
const BYTES = 2
const FIXED_32 = 5
const VARINT_BYTES_MAX = 10
const FIELD_NUMBER_MAX = 2 ** 29 - 1

/**
 * The fields of a protobuf message in order, as far as they can be read without its definition: numbers of a fixed
 * width are skipped. Total: null for bytes that are not such a message.
 */
export function readWire(bytes: Buffer): readonly WireField[] | null {
  const fields: WireField[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = readVarint(bytes, at)
    if (tag === null) return null
    const [number, type] = [Math.floor(tag.value / 8), tag.value % 8]
    if (number < 1 || number > FIELD_NUMBER_MAX) return null
    const field = readValue(bytes, tag.end, type)
    if (field === null) return null
    if (field.value !== null) fields.push({ number, value: field.value })
    at = field.end
  }
  return fields
}

interface Read<Value> {
  readonly value: Value
  readonly end: number
}

function readValue(bytes: Buffer, at: number, type: number): Read<number | Buffer | null> | null {
  if (type === VARINT) return readVarint(bytes, at)
  if (type === BYTES) {
    const length = readVarint(bytes, at)
    if (length === null || length.value > bytes.length - length.end) return null
    const end = length.end + length.value
    return { value: bytes.subarray(length.end, end), end }
  }
  const width = type === FIXED_64 ? 8 : type === FIXED_32 ? 4 : null
  return width === null || width > bytes.length - at ? null : { value: null, end: at + width }
}

/**
 * Seven bits per byte, least significant first. A number that is too large to be exact becomes the largest exact one.
 */
function readVarint(bytes: Buffer, from: number): Read<number> | null {
  let value = 0
  for (let length = 0; length < VARINT_BYTES_MAX; length += 1) {
    const byte = bytes[from + length]
    if (byte === undefined) return null
    value += (byte & 0x7f) * 2 ** (7 * length)
    if (byte < 0x80) return { value: Math.min(value, Number.MAX_SAFE_INTEGER), end: from + length + 1 }
  }
  return null
}

/** All fields with this number that are bytes. */
export const bytesIn = (fields: readonly WireField[], number: number): readonly Buffer[] =>
  fields.flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []))

/** The last varint with this number, because a later one replaces earlier ones. */
export function numberAt(fields: readonly WireField[], number: number): number | null {
  const values = fields.flatMap((field) => (field.number === number ? [field.value] : []))
  return values.findLast((value) => typeof value === 'number') ?? null
}

/** The first message with this number; empty if there is none. */
const messageIn = (fields: readonly WireField[], number: number): readonly WireField[] =>
  readWire(bytesIn(fields, number)[0] ?? Buffer.alloc(0)) ?? []

const textIn = (fields: readonly WireField[], number: number): string | null =>
  filledString(bytesIn(fields, number)[0]?.toString('utf8'))
