import { hash as digest } from 'node:crypto'
import { longestRising, type Pair } from '../../../mirror/threads/merge-threads.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Role } from '../../../model/message.ts'
import {
  decodeArchive,
  decodeConversationState,
  type ConversationState,
  type StateEntry,
  decodeStep,
  decodeTurn,
  decodeTurnMessage,
  type StateStep,
} from './conversation-state.ts'
import type { JsonRecord } from './json.ts'
import {
  parseModelMessages,
  type EntryIssue,
  type ModelEntry,
  type ParsedMessages,
  decodeEntry,
  isShown,
  unreadMessage,
  keyOfCall,
  keysOf,
  type DecodedEntry,
} from './model-messages.ts'

export interface WalkedState extends Pick<ConversationState, 'contextTokens' | 'workspaceUris' | 'startedAtMs'> {
  /** The thread's messages in order. The key is the blob's id, followed by a number if a blob contains several. */
  readonly entries: readonly ModelEntry[]
  readonly issues: readonly EntryIssue[]
}

/** The key of the root if its id is not known. */
const ROOT = 'root'

/**
 * Every message that a state reaches: first what its summaries replaced, then its own list. Turns add what came before
 * those, and when each message was sent. A missing blob is an issue only if no other list has its content.
 */
export function walkState(root: Buffer, read: ReadBlobs, rootId: string = ROOT): WalkedState {
  const state = decodeConversationState(root)
  if (state === null) {
    const issues = [{ key: rootId, reason: 'unknown-shape' as const }]
    return { entries: [], issues, contextTokens: null, workspaceUris: [], startedAtMs: null }
  }
  const issues = new Map<string, IssueReason>()
  const named = [...readArchives(state, read, issues), ...state.entries]
  if (named.length > ENTRIES_MAX) issues.set(rootId, 'too-large')
  const listed = readEntries(named.slice(0, ENTRIES_MAX), read, issues)
  const { contextTokens, workspaceUris, startedAtMs } = state
  const entries = withTurns(listed, state, read, issues)
  return {
    entries,
    issues: [...issues].map(([key, reason]) => ({ key, reason })),
    contextTokens,
    workspaceUris,
    startedAtMs,
  }
}

/** Far more than any chat has: a short list can name a long message again and again. */
const ENTRIES_MAX = 200_000
/** The bytes of this many blobs are in memory at a time. */
const READ_AT_ONCE = 500

/** What summaries replaced. Each summary follows what it replaced, unless the state's own list still names it. */
function readArchives(state: ConversationState, read: ReadBlobs, issues: Map<string, IssueReason>): StateEntry[] {
  if (state.archives.length === 0) return []
  const own = new Set(state.entries.flatMap((entry) => (entry.kind === 'blob' ? [entry.id] : [])))
  const blobs = read(state.archives)
  return state.archives.flatMap((id) => {
    const bytes = blobs.get(id) ?? null
    const archive = bytes === null ? null : decodeArchive(bytes)
    if (archive === null) issues.set(id, bytes === null ? 'missing-blob' : 'unknown-shape')
    const { messages, summary } = archive ?? { messages: [], summary: null }
    const ids = summary === null || own.has(summary) ? messages : [...messages, summary]
    return ids.map((each): StateEntry => ({ kind: 'blob', id: each }))
  })
}

function readEntries(
  entries: readonly StateEntry[],
  read: ReadBlobs,
  issues: Map<string, IssueReason>,
): readonly ModelEntry[] {
  const ids = [...new Set(entries.flatMap((entry) => (entry.kind === 'blob' ? [entry.id] : [])))]
  const found = new Map<string, ParsedMessages>()
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    for (const [id, bytes] of read(ids.slice(at, at + READ_AT_ONCE)))
      if (bytes !== null) found.set(id, parseModelMessages(bytes))
  }
  return entries.flatMap((entry) => {
    const key = entry.kind === 'blob' ? entry.id : digest('sha256', entry.bytes)
    const parsed = entry.kind === 'blob' ? found.get(key) : parseModelMessages(entry.bytes)
    if (parsed?.kind === 'messages') return keyed(key, parsed)
    issues.set(key, parsed?.reason ?? 'missing-blob')
    return [{ key, message: unreadMessage }]
  })
}

const keyed = (key: string, { messages }: Extract<ParsedMessages, { kind: 'messages' }>): ModelEntry[] =>
  messages.map((message, at) => ({ key: messages.length === 1 ? key : `${key}/${at}`, message }))

/**
 * The list with the times from the turns, after what exists only in the turns. The turns alone if the list shows
 * nothing.
 */
function withTurns(
  listed: readonly ModelEntry[],
  { turns, archives }: ConversationState,
  read: ReadBlobs,
  issues: Map<string, IssueReason>,
): readonly ModelEntry[] {
  if (turns.length === 0) return listed
  const items = readTurns(turns, read)
  const isSilent = !listed.some(({ message }) => isShown(message))
  const hasSummary = archives.length > 0 || listed.some(({ message }) => decodeEntry(message).isSimulated)
  const { before, times } = isSilent
    ? { before: items.length, times: new Map<number, number>() }
    : matchTurns(listed, items, hasSummary)
  const onlyInTurns = items.slice(0, before)
  for (const { id, issue } of onlyInTurns) if (issue !== null) issues.set(id, issue)
  const entries = onlyInTurns.flatMap(({ entry }) => entry ?? [])
  if (isSilent) return entries.length > 0 ? entries : listed
  return [...entries, ...listed.map((entry, at) => ({ ...entry, atMs: times.get(at) ?? null }))]
}

/** Reads these blobs; null for a missing one. */
export type ReadBlobs = (ids: readonly string[]) => ReadonlyMap<string, Buffer | null>

/** One item of a turn: a prompt, a step, or something that could not be read. */
export interface DecodedItem {
  readonly id: string
  /** Null for a turn that could not be read and may have contained anything. */
  readonly entry: ModelEntry | null
  /** Null if it could not be read. */
  readonly role: Role | null
  /** A message of the list with one of these keys is the same as this item. */
  readonly keys: readonly string[]
  readonly issue: IssueReason | null
}

/** Reads these turns with their prompts and steps, in order. Empty steps are left out. */
export function readTurns(ids: readonly string[], read: ReadBlobs): readonly DecodedItem[] {
  const turns = read(ids)
  const decoded = ids.map((id) => {
    const bytes = turns.get(id) ?? null
    return { id, isThere: bytes !== null, turn: bytes === null ? null : decodeTurn(bytes) }
  })
  const named = decoded.flatMap(({ turn }) => [turn?.userMessage ?? [], turn?.steps ?? []].flat())
  const blobs = read([...new Set(named)])
  return decoded.flatMap(({ id, isThere, turn }) => {
    if (turn === null) return [unread(id, isThere, null)]
    const { userMessage, steps, atMs } = turn
    return [
      ...(userMessage === null ? [] : promptItem(userMessage, blobs.get(userMessage) ?? null, atMs)),
      ...steps.flatMap((step) => stepItem(step, blobs.get(step) ?? null)),
    ]
  })
}

const unread = (id: string, isThere: boolean, entry: ModelEntry | null): DecodedItem => ({
  id,
  entry,
  role: null,
  keys: [],
  issue: isThere ? 'unknown-shape' : 'missing-blob',
})

function promptItem(id: string, bytes: Buffer | null, turnAtMs: number | null): DecodedItem[] {
  const prompt = bytes === null ? null : decodeTurnMessage(bytes)
  if (prompt === null) return [unread(id, bytes !== null, { key: id, message: unreadMessage, isFromTurn: true })]
  return readItem(id, { role: 'user', content: prompt.text }, prompt.atMs ?? turnAtMs, [])
}

function stepItem(id: string, bytes: Buffer | null): DecodedItem[] {
  const step = bytes === null ? null : decodeStep(bytes)
  if (step === null) return [unread(id, bytes !== null, { key: id, message: unreadMessage, isFromTurn: true })]
  const callKeys = step.kind === 'tool' ? step.texts.map(keyOfCall) : []
  return readItem(id, { role: 'assistant', content: contentOf(step) }, step.atMs, callKeys)
}

function readItem(id: string, message: JsonRecord, atMs: number | null, callKeys: readonly string[]): DecodedItem[] {
  const decoded = decodeEntry(message)
  if (decoded.parts.length === 0) return []
  const keys = [...callKeys, ...keysOf(decoded).flatMap((key) => key ?? [])]
  return [{ id, entry: { key: id, message, atMs, isFromTurn: true }, role: decoded.role, keys, issue: null }]
}

/** A step in the form of a model message. */
function contentOf(step: StateStep): readonly JsonRecord[] {
  if (step.kind === 'text') return [{ type: 'text', text: step.text }]
  if (step.kind === 'thinking') return [{ type: 'reasoning', text: step.text, durationMs: step.durationMs }]
  return step.kind === 'tool' ? [{ type: 'tool-call', toolName: step.name, input: step.input }] : []
}

export interface TurnMatch {
  /** This many of the items come before everything in the list. */
  readonly before: number
  /** When an entry of the list was sent, by its index; epoch milliseconds. */
  readonly times: ReadonlyMap<number, number>
}

/**
 * Finds the messages of a list among the items of the turns, by text, thinking and ids of calls. If the same key occurs
 * several times, the last occurrences are paired, because a list that lost messages lost the oldest. Pairs that cross
 * others are dropped.
 * @param hasSummary whether the list is known to have lost messages
 */
export function matchTurns(list: readonly ModelEntry[], items: readonly DecodedItem[], hasSummary: boolean): TurnMatch {
  const pieces = list.flatMap(({ message }, at) => piecesOf(decodeEntry(message), at))
  const pairs = longestRising(pairUp(pieces, items))
  const times = new Map<number, number>()
  for (const { piece, item } of pairs) {
    const at = pieces[piece]?.at
    const atMs = items[item]?.entry?.atMs ?? null
    if (at !== undefined && atMs !== null) times.set(at, Math.min(atMs, times.get(at) ?? atMs))
  }
  const [first] = pairs
  if (first === undefined && !hasSummary) return { before: 0, times }
  const unpaired = pieces.slice(0, first?.piece ?? pieces.length)
  return { before: stepBack(first?.item ?? items.length, unpaired, items), times }
}

interface ListPiece {
  /** Index of its entry. */
  readonly at: number
  /** Null if it could not be read. */
  readonly role: Role | null
  readonly key: string | null
}

function piecesOf(decoded: DecodedEntry, at: number): ListPiece[] {
  if (decoded.isGap) return [{ at, role: null, key: null }]
  return decoded.isSimulated ? [] : keysOf(decoded).map((key) => ({ at, role: decoded.role, key }))
}

/** In the order of the list. */
function pairUp(pieces: readonly ListPiece[], items: readonly DecodedItem[]): Pair[] {
  const wanted = new Set(pieces.flatMap(({ key }) => key ?? []))
  const places = new Map<string, number[]>()
  for (const [item, { keys }] of items.entries()) {
    const key = keys.find((each) => wanted.has(each))
    if (key === undefined) continue
    const known = places.get(key)
    if (known === undefined) places.set(key, [item])
    else known.push(item)
  }
  const pairs: Pair[] = []
  for (let piece = pieces.length - 1; piece >= 0; piece -= 1) {
    const item = places.get(pieces[piece]?.key ?? '')?.pop()
    if (item !== undefined) pairs.push({ piece, item })
  }
  return pairs.reverse()
}

/** Unpaired entries at the head of the list may be the preceding items in another form, which must not appear twice. */
function stepBack(from: number, unpaired: readonly ListPiece[], items: readonly DecodedItem[]): number {
  let before = from
  for (const { role } of unpaired.toReversed()) {
    const item = items[before - 1]
    if (item === undefined) break
    if (role === null || item.role === null || item.role === role) before -= 1
  }
  return before
}
