import { hash as digest } from 'node:crypto'
import type { IssueReason } from '../../../../model/issue.ts'
import {
  decodeArchive,
  decodeConversationState,
  type ConversationState,
  type StateEntry,
} from './conversation-state.ts'
import { matchTurns } from './match-turns.ts'
import { parseModelMessages, type EntryIssue, type ModelEntry, type ParsedMessages } from './model-messages.ts'
import { decodeEntry, isShown, unreadMessage } from './model-parts.ts'
import { readTurns, type ReadBlobs } from './read-turns.ts'

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
