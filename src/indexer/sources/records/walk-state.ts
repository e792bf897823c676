import { hash as digest } from 'node:crypto'
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
import { groupBy, wellFormed } from './json.ts'
import {
  parseModelMessages,
  type EntryIssue,
  type ModelEntry,
  type ParsedMessages,
  decodeEntry,
  unreadMessage,
  keyOfCall,
  keysOf,
} from './model-messages.ts'

/** Reads these blobs; null for a missing one. */
export type ReadBlobs = (ids: readonly string[]) => ReadonlyMap<string, Buffer | null>

/** Far more than any chat has: a short list can name a long message again and again. */
const ENTRIES_MAX = 200_000
/** The bytes of this many blobs are in memory at a time. */
const READ_AT_ONCE = 500

/**
 * Every message that a state reaches: first what its summaries replaced, then its own list. Turns add what came before
 * those, and when each message was sent. A missing blob is an issue only if no other list has its content.
 * @param rootId the key of the root, if its id is known
 * @returns `state`: null if its bytes are no state. `entries`: the thread's messages in order; the key is the blob's id,
 * followed by a number if a blob contains several
 */
export function walkState(root: Buffer, read: ReadBlobs, rootId = 'root') {
  const state = decodeConversationState(root)
  const issues = new Map<string, IssueReason>(state === null ? [[rootId, 'unknown-shape']] : [])
  const named = state === null ? [] : [...readArchives(state, read, issues), ...state.entries]
  if (named.length > ENTRIES_MAX) issues.set(rootId, 'too-large')
  const listed = readEntries(named.slice(0, ENTRIES_MAX), read, issues)
  const entries = state === null ? [] : withTurns(listed, state, read, issues)
  return { state, entries, issues: [...issues].map(([key, reason]): EntryIssue => ({ key, reason })) }
}

/** What is decoded of a blob, or why it is not. */
function decodedIn<Value extends object>(
  blobs: ReadonlyMap<string, Buffer | null>,
  id: string,
  decode: (bytes: Buffer) => Value | null,
): Value | IssueReason {
  const bytes = blobs.get(id) ?? null
  return bytes === null ? 'missing-blob' : (decode(bytes) ?? 'unknown-shape')
}

/** What summaries replaced. Each summary follows what it replaced, unless the state's own list still names it. */
function readArchives(state: ConversationState, read: ReadBlobs, issues: Map<string, IssueReason>): StateEntry[] {
  if (state.archives.length === 0) return []
  const own = new Set(state.entries.filter((entry) => typeof entry === 'string'))
  const blobs = read(state.archives)
  return state.archives.flatMap((id): StateEntry[] => {
    const archive = decodedIn(blobs, id, decodeArchive)
    if (typeof archive === 'string') {
      issues.set(id, archive)
      return []
    }
    const { messages, summary, text } = archive
    const ids = summary === null || own.has(summary) ? messages : [...messages, summary]
    // Where no message has the summary, the archive itself has its text.
    return summary === null && text !== null ? [...ids, summaryOf(text)] : [...ids]
  })
}

const summaryOf = (text: string): Buffer =>
  Buffer.from(JSON.stringify({ role: 'user', content: text, providerOptions: { cursor: { isSummary: true } } }))

function readEntries(
  entries: readonly StateEntry[],
  read: ReadBlobs,
  issues: Map<string, IssueReason>,
): readonly ModelEntry[] {
  const ids = [...new Set(entries.filter((entry) => typeof entry === 'string'))]
  const found = new Map<string, ParsedMessages>()
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    for (const [id, bytes] of read(ids.slice(at, at + READ_AT_ONCE)))
      if (bytes !== null) found.set(id, parseModelMessages(bytes))
  }
  return entries.flatMap((entry) => {
    const key = typeof entry === 'string' ? entry : digest('sha256', entry)
    const parsed = typeof entry === 'string' ? found.get(key) : parseModelMessages(entry)
    if (parsed?.kind === 'messages')
      return parsed.messages.map((message, at, { length }) => ({ key: length === 1 ? key : `${key}/${at}`, message }))
    issues.set(key, parsed?.reason ?? 'missing-blob')
    return [{ key, message: unreadMessage }]
  })
}

/**
 * The list with the times from the turns, after what exists only in the turns. The turns alone if the list shows
 * nothing.
 */
function withTurns(
  listed: readonly ModelEntry[],
  { turns, archives, turnTimes }: ConversationState,
  read: ReadBlobs,
  issues: Map<string, IssueReason>,
): readonly ModelEntry[] {
  if (turns.length === 0) return listed
  const items = readTurns(turns, turnTimes, read)
  const decoded = listed.map(({ message }) => decodeEntry(message))
  const isSilent = !decoded.some(({ parts }) => parts.length > 0)
  const hasSummary = archives.length > 0 || decoded.some(({ isSimulated }) => isSimulated)
  const { before, times } = isSilent
    ? { before: items.length, times: new Map<number, number>() }
    : matchTurns(listed, items, hasSummary)
  const onlyInTurns = items.slice(0, before)
  for (const { id, issue } of onlyInTurns) if (issue !== null) issues.set(id, issue)
  const entries = onlyInTurns.flatMap(({ entry }) => entry ?? [])
  if (isSilent) return entries.length > 0 ? entries : listed
  return [...entries, ...listed.map((entry, at) => ({ ...entry, atMs: times.get(at) ?? null }))]
}

/** One item of a turn: a prompt, a step, or something that could not be read. */
interface Item {
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
function readTurns(ids: readonly string[], times: readonly (number | null)[], read: ReadBlobs): readonly Item[] {
  const found = read(ids)
  const turns = ids.map((id) => ({ id, turn: decodedIn(found, id, decodeTurn) }))
  const named = turns.flatMap(({ turn }) =>
    typeof turn === 'string' ? [] : [turn.userMessage ?? [], turn.steps].flat(),
  )
  const blobs = read([...new Set(named)])
  const asked = turns.flatMap(({ turn }) => (typeof turn === 'string' ? [] : (turn.userMessage ?? [])))
  const prompts = new Map(asked.map((id) => [id, decodedIn(blobs, id, decodeTurnMessage)]))
  const textBlobs = [...prompts.values()].flatMap((each) => (typeof each === 'string' ? [] : (each.textBlob ?? [])))
  const texts = textBlobs.length === 0 ? new Map<string, Buffer | null>() : read([...new Set(textBlobs)])
  return turns.flatMap(({ id, turn }, at): Item[] => {
    if (typeof turn === 'string') return [{ id, entry: null, role: null, keys: [], issue: turn }]
    const { userMessage: prompt, steps, atMs } = turn
    return [
      ...(prompt === null
        ? []
        : itemOf(prompt, 'user', withText(prompts.get(prompt) ?? 'missing-blob', texts), atMs ?? times[at] ?? null)),
      ...steps.flatMap((step) => itemOf(step, 'assistant', decodedIn(blobs, step, decodeStep), null)),
    ]
  })
}

/** Some builds may keep the text of a prompt in a blob of its own. */
function withText(prompt: StateStep | IssueReason, texts: ReadonlyMap<string, Buffer | null>): StateStep | IssueReason {
  if (typeof prompt === 'string' || prompt.textBlob === undefined) return prompt
  const text = texts.get(prompt.textBlob) ?? null
  return text === null ? 'missing-blob' : { ...prompt, content: wellFormed(text.toString('utf8')) }
}

function itemOf(id: string, role: Role, step: StateStep | IssueReason, turnAtMs: number | null): Item[] {
  if (typeof step === 'string') {
    return [{ id, entry: { key: id, message: unreadMessage, isFromTurn: true }, role: null, keys: [], issue: step }]
  }
  const message = { role, content: step.content }
  const decoded = decodeEntry(message)
  if (decoded.parts.length === 0) return []
  const keys = [...step.texts.map(keyOfCall), ...keysOf(decoded).flatMap((key) => key ?? [])]
  const entry = { key: id, message, atMs: step.atMs ?? turnAtMs, isFromTurn: true }
  return [{ id, entry, role: decoded.role, keys, issue: null }]
}

/**
 * Finds the messages of a list among the items of the turns, by text, thinking and ids of calls. If the same key occurs
 * several times, the last occurrences are paired, because a list that lost messages lost the oldest. Pairs that cross
 * others are dropped.
 * @param hasSummary whether the list is known to have lost messages
 * @returns `before`: this many of the items come before everything in the list. `times`: when an entry of the list was
 * sent, by its index
 */
function matchTurns(
  list: readonly ModelEntry[],
  items: readonly Item[],
  hasSummary: boolean,
): { readonly before: number; readonly times: ReadonlyMap<number, number> } {
  const pieces = list.flatMap(({ message }, at) => piecesOf(message, at))
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

/** A part of the entry at this index of the list. `role` is null if it could not be read. */
interface ListPiece {
  readonly at: number
  readonly role: Role | null
  readonly key: string | null
}

function piecesOf(message: ModelEntry['message'], at: number): ListPiece[] {
  const decoded = decodeEntry(message)
  if (decoded.isGap) return [{ at, role: null, key: null }]
  return decoded.isSimulated ? [] : keysOf(decoded).map((key) => ({ at, role: decoded.role, key }))
}

/** In the order of the list. */
function pairUp(pieces: readonly ListPiece[], items: readonly Item[]): Pair[] {
  const wanted = new Set(pieces.flatMap(({ key }) => key ?? []))
  const places = groupBy(items.keys(), (item) => items[item]?.keys.find((key) => wanted.has(key)))
  const pairs: Pair[] = []
  for (let piece = pieces.length - 1; piece >= 0; piece -= 1) {
    const item = places.get(pieces[piece]?.key ?? '')?.pop()
    if (item !== undefined) pairs.push({ piece, item })
  }
  return pairs.reverse()
}

/** Unpaired entries at the head of the list may be the preceding items in another form, which must not appear twice. */
function stepBack(from: number, unpaired: readonly ListPiece[], items: readonly Item[]): number {
  let before = from
  for (const { role } of unpaired.toReversed()) {
    const item = items[before - 1]
    if (item === undefined) break
    if (role === null || item.role === null || item.role === role) before -= 1
  }
  return before
}

interface Pair {
  readonly piece: number
  readonly item: number
}

/**
 * The largest set of pairs that do not cross (longest increasing subsequence).
 * @param pairs by ascending `piece`
 */
function longestRising(pairs: readonly Pair[]): readonly Pair[] {
  interface Run {
    readonly pair: Pair
    readonly before: Run | null
  }
  /** By length: the run of that length with the lowest last item. */
  const runs: Run[] = []
  for (const pair of pairs) {
    let [low, high] = [0, runs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((runs[middle]?.pair.item ?? 0) < pair.item) low = middle + 1
      else high = middle
    }
    runs[low] = { pair, before: runs[low - 1] ?? null }
  }
  const found: Pair[] = []
  for (let run = runs.at(-1) ?? null; run !== null; run = run.before) found.push(run.pair)
  return found.reverse()
}
