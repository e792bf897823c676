import type { ChatFacts } from '../../../mirror/batch.ts'
import { filledString, parseJson } from './json-value.ts'
import { readTime } from './read-time.ts'
import { bytesIn, numberAt, readWire, type WireField } from './wire.ts'

/** One place in a thread as its state tells it: a blob by its id, the message itself, or a further state by its id. */
export type StateEntry =
  | { readonly kind: 'blob'; readonly id: string }
  | { readonly kind: 'inline'; readonly bytes: Buffer }
  | { readonly kind: 'subtree'; readonly id: string }

/** What the model saw of a chat, by the ids of the blobs that hold it. */
export interface ConversationState {
  /** In their order. */
  readonly entries: readonly StateEntry[]
  /** Ids of the turns, which tell the thread once more. */
  readonly turns: readonly string[]
  readonly contextTokens: ChatFacts['contextTokens']
  readonly workspaceUris: readonly string[]
  readonly startedAtMs: number | null
}

const MESSAGE = 1
const SUBTREE = 2
const TOKENS = 5
const TURN = 8
const WORKSPACE = 9
const STARTED = 26
const ID_BYTES = 32

/** Total: null for bytes that are no state, or hold nothing of one that is known. */
export function decodeConversationState(bytes: Buffer): ConversationState | null {
  const fields = readWire(bytes)
  if (fields === null) return null
  const state = {
    entries: fields.flatMap(readEntry),
    turns: idsIn(fields, TURN),
    contextTokens: readTokens(fields),
    workspaceUris: bytesIn(fields, WORKSPACE).flatMap((uri) => filledString(uri.toString('utf8')) ?? []),
    startedAtMs: readTime(numberAt(fields, STARTED)),
  }
  const { entries, turns, contextTokens, workspaceUris, startedAtMs } = state
  const isKnown = entries.length + turns.length + workspaceUris.length > 0 || (contextTokens ?? startedAtMs) !== null
  return isKnown || bytes.length === 0 ? state : null
}

function readEntry({ number, value }: WireField): StateEntry[] {
  if (!Buffer.isBuffer(value)) return []
  if (number === SUBTREE) return value.length === ID_BYTES ? [{ kind: 'subtree', id: value.toString('hex') }] : []
  if (number !== MESSAGE) return []
  // A message can be as short as an id is long.
  const isId = value.length === ID_BYTES && parseJson(value.toString('utf8')) === null
  return [isId ? { kind: 'blob', id: value.toString('hex') } : { kind: 'inline', bytes: value }]
}

const idsIn = (fields: readonly WireField[], number: number): readonly string[] =>
  bytesIn(fields, number).flatMap((id) => (id.length === ID_BYTES ? [id.toString('hex')] : []))

function readTokens(fields: readonly WireField[]): ConversationState['contextTokens'] {
  const told = readWire(bytesIn(fields, TOKENS).at(-1) ?? Buffer.alloc(0)) ?? []
  const positive = (number: number): number | null => numberAt(told, number) || null
  const [used, limit] = [positive(1), positive(2)]
  return used === null && limit === null ? null : { used, limit }
}

export interface StateTurn {
  readonly userMessage: string | null
  readonly steps: readonly string[]
}

/** A turn's blob: the ids of a prompt and of what was done about it, as they are or a level deeper. */
export function decodeTurn(bytes: Buffer): StateTurn | null {
  const fields = readWire(bytes)
  if (fields === null) return null
  const own = turnOf(fields)
  if (own !== null) return own
  const inner = readWire(bytesIn(fields, 1)[0] ?? Buffer.alloc(0))
  return inner === null ? null : turnOf(inner)
}

function turnOf(fields: readonly WireField[]): StateTurn | null {
  const userMessage = idsIn(fields, 1)[0] ?? null
  const steps = idsIn(fields, 2)
  return userMessage === null && steps.length === 0 ? null : { userMessage, steps }
}

/** A turn's prompt; null where the blob holds none. */
export const decodeTurnMessage = (bytes: Buffer): string | null => firstText(readWire(bytes) ?? [])

const firstText = (fields: readonly WireField[]): string | null =>
  filledString(bytesIn(fields, 1)[0]?.toString('utf8') ?? null)

/** What was done in a turn, one thing a blob. */
export type StateStep =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string; readonly durationMs: number | null }
  | { readonly kind: 'tool'; readonly name: string; readonly input: Readonly<Record<string, string>> }
  | { readonly kind: 'nothing' }

const emptyStep: StateStep = { kind: 'nothing' }

/** Null for a step of no known kind. */
export function decodeStep(bytes: Buffer): StateStep | null {
  const [field] = readWire(bytes) ?? []
  const inner = field !== undefined && Buffer.isBuffer(field.value) ? readWire(field.value) : null
  if (field === undefined || inner === null) return null
  const text = firstText(inner)
  if (field.number === 1) return text === null ? emptyStep : { kind: 'text', text }
  if (field.number === 2) return decodeCall(inner)
  if (field.number !== 3) return null
  return text === null ? emptyStep : { kind: 'thinking', text, durationMs: numberAt(inner, 2) }
}

/** By the number of the field: the tool's name, and what the first fields of its arguments are called. */
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

/** Every tool has a message of its own for its arguments; of most of them only which tool it was is known. */
function decodeCall(fields: readonly WireField[]): StateStep {
  const [call] = fields
  const [name = 'unknown', ...named] = tools.get(call?.number ?? 0) ?? []
  const value = call !== undefined && Buffer.isBuffer(call.value) ? readWire(call.value) : null
  const args = readWire(bytesIn(value ?? [], 1)[0] ?? Buffer.alloc(0)) ?? []
  const told = named.flatMap((arg, index) => {
    const text = filledString(bytesIn(args, index + 1)[0]?.toString('utf8') ?? null)
    return text === null ? [] : [[arg, text] as const]
  })
  return { kind: 'tool', name, input: Object.fromEntries(told) }
}
