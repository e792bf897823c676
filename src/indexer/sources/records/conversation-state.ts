import type { ChatFacts } from '../../../model/change.ts'
import table from './step-tools.json' with { type: 'json' }
import { type JsonRecord, filledString, parseJson, readTime } from './json.ts'

/** One place in a thread, according to its state: the id of a blob, or the bytes of the message itself. */
export type StateEntry = string | Buffer

/** What the model saw of a chat, as the ids of blobs. */
export type ConversationState = NonNullable<ReturnType<typeof decodeConversationState>>

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
export function decodeConversationState(bytes: Buffer) {
  const fields = readWire(bytes)
  if (fields === null) return null
  const state = {
    entries: fields.flatMap(readEntry),
    /** Ids of the turns, which describe the thread a second time, each once. Stores of old builds have them in the old field only. */
    turns: firstList(fields, TURN, OLD_TURN),
    /** Ids of what summaries replaced in `entries`, oldest first. */
    archives: firstList(fields, ARCHIVE, OLD_ARCHIVE),
    contextTokens: readTokens(fields),
    workspaceUris: bytesIn(fields, WORKSPACE).flatMap((uri) => filledString(uri.toString('utf8')) ?? []),
    startedAtMs: readTime(numberAt(fields, STARTED)),
    /** A time of each turn, in order, if it has one for each; otherwise empty. */
    turnTimes: readTurnTimes(fields),
    /** The chats of subagents that it knows. */
    childIds: readChildIds(fields),
    /** What the chat was told to reach, if that is not reached yet or was. */
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
  return [isId ? value.toString('hex') : value]
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

function readTokens(fields: readonly WireField[]): ChatFacts['contextTokens'] {
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

/** A turn's blob: the ids of a prompt and of its steps, directly or one level deeper, and its time if it has one. */
export function decodeTurn(bytes: Buffer) {
  const fields = readWire(bytes)
  return fields === null ? null : (turnOf(fields) ?? turnOf(messageIn(fields, 1)))
}

function turnOf(fields: readonly WireField[]) {
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

/** What is read of a message, by name: the number of its field, and what it is if not one text. `list`: of messages. */
type Shape = { readonly [name: string]: readonly [number: number, of?: 'number' | 'texts' | 'list', each?: Shape] }

interface Tool {
  readonly name: string
  readonly args: Shape
  /** In the first field of the result, which is a success. */
  readonly output: Shape
}

/**
 * By the number of the field that holds the call. The numbers, and those of the fields, are from a published description of
 * Cursor's messages; the ones for shell, glob, grep, read, edit, web search and web fetch were seen in stores.
 */
const tools = table as unknown as Readonly<Record<string, Tool>>

const MCP = 15
const CALL_ID = 57
/** Fields of a call beside the tool's: hooks, its id, when it began and ended. */
const beside: ReadonlySet<number> = new Set([54, CALL_ID, 59, 60])
const CALL_ID_BYTES_MAX = 200

/** A call with its arguments and its result, as parts of a model's message, and short texts of which one may be its id. */
export function decodeStepCall(fields: readonly WireField[]) {
  const call = fields.find(({ number, value }) => !beside.has(number) && Buffer.isBuffer(value))
  const value = call !== undefined && Buffer.isBuffer(call.value) ? (readWire(call.value) ?? []) : []
  const args = messageIn(value, 1)
  const texts = [...fields, ...value, ...args].flatMap((each) =>
    Buffer.isBuffer(each.value) && each.value.length <= CALL_ID_BYTES_MAX ? [each.value.toString('utf8')] : [],
  )
  const known = tools[call?.number ?? 0]
  const isMcp = call?.number === MCP
  const toolName = isMcp ? 'mcp' : (known?.name ?? 'unknown')
  const input = isMcp ? mcpArguments(args) : readShape(args, known?.args ?? {})
  const toolCallId = textIn(fields, CALL_ID)
  const content: JsonRecord[] = [{ type: 'tool-call', toolName, input, ...(toolCallId === null ? {} : { toolCallId }) }]
  const result = toolCallId === null ? null : readResult(messageIn(value, 2), isMcp, known)
  if (result !== null) content.push({ type: 'tool-result', toolName, toolCallId, ...result })
  return { content, texts }
}

/** As `call_mcp_tool` has them, so that such a call gets the same name everywhere. */
const mcpArguments = (args: readonly WireField[]): JsonRecord => ({
  server: textIn(args, 9) ?? textIn(args, 4),
  toolName: textIn(args, 5) ?? textIn(args, 1),
  arguments: readMap(args, 2, 0),
})

const DEPTH_MAX = 20

/** A map of names to values of any kind. Numbers have a fixed width and are left out. */
const readMap = (fields: readonly WireField[], number: number, depth: number): JsonRecord =>
  Object.fromEntries(
    bytesIn(fields, number).flatMap((entry) => {
      const pair = readWire(entry) ?? []
      const name = textIn(pair, 1)
      return name === null ? [] : [[name, depth > DEPTH_MAX ? null : readAny(messageIn(pair, 2), depth + 1)]]
    }),
  )

function readAny(fields: readonly WireField[], depth: number): unknown {
  const [field] = fields
  if (field === undefined) return null
  if (field.number === 4) return field.value === 1
  if (!Buffer.isBuffer(field.value)) return null
  if (field.number === 3) return field.value.toString('utf8')
  const inner = readWire(field.value) ?? []
  if (field.number === 5) return readMap(inner, 1, depth)
  if (field.number !== 6 || depth > DEPTH_MAX) return null
  return bytesIn(inner, 1).map((each) => readAny(readWire(each) ?? [], depth + 1))
}

/** Null if nothing of it is known. A result is one of several messages; the first is a success, the others say why not. */
function readResult(fields: readonly WireField[], isMcp: boolean, known: Tool | undefined): JsonRecord | null {
  const [field] = fields
  if (field === undefined || !Buffer.isBuffer(field.value)) return null
  const inner = readWire(field.value) ?? []
  // A failed command has the same fields as one that succeeded.
  const isOutput = field.number === 1 || (known?.name === 'shell' && field.number === 2)
  if (!isOutput) {
    const reason = inner
      .flatMap(({ value }) => (Buffer.isBuffer(value) ? value.toString('utf8') : []))
      .find(isPlainText)
    return { isError: true, ...(reason === undefined ? {} : { result: reason }) }
  }
  const texts = isMcp ? bytesIn(inner, 1).flatMap((each) => textIn(messageIn(readWire(each) ?? [], 1), 1) ?? []) : []
  const output = isMcp ? { text: texts.join('\n') } : readShape(inner, known?.output ?? {})
  const { before: _, after: __, ...short } = output
  // The whole file before and after is kept only where no difference is.
  const shown = typeof output['diff'] === 'string' ? short : output
  return Object.keys(shown).length === 0 ? null : { result: shown, isError: isMcp && numberAt(inner, 2) === 1 }
}

// oxlint-disable-next-line no-control-regex
const isPlainText = (text: string): boolean => text !== '' && !/[\u0000-\u0008\ufffd]/.test(text)

function readShape(fields: readonly WireField[], shape: Shape): JsonRecord {
  const read = Object.entries(shape).flatMap(([name, [number, of, each]]): [string, unknown][] => {
    const value =
      of === undefined
        ? textIn(fields, number)
        : of === 'number'
          ? numberAt(fields, number)
          : of === 'texts'
            ? bytesIn(fields, number).map((text) => text.toString('utf8'))
            : bytesIn(fields, number).map((item) => readShape(readWire(item) ?? [], each ?? {}))
    return value === null || (Array.isArray(value) && value.length === 0) ? [] : [[name, value]]
  })
  return Object.fromEntries(read)
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
export const messageIn = (fields: readonly WireField[], number: number): readonly WireField[] =>
  readWire(bytesIn(fields, number)[0] ?? Buffer.alloc(0)) ?? []

export const textIn = (fields: readonly WireField[], number: number): string | null =>
  filledString(bytesIn(fields, number)[0]?.toString('utf8'))

/** The bytes of a text that is hex and nothing else; else null. No pattern looks at it: it may have millions of digits. */
export function hexBytes(text: string): Buffer | null {
  // Node stops at the first sign that is no digit.
  const bytes = Buffer.from(text, 'hex')
  return text !== '' && 2 * bytes.length === text.length ? bytes : null
}
