import { hash as digest } from 'node:crypto'
import type { IssueReason } from '../../../model/issue.ts'
import { decodeConversationState, decodeStep, decodeTurn, decodeTurnMessage } from './conversation-state.ts'
import type { ConversationState, StateEntry, StateStep } from './conversation-state.ts'
import type { JsonRecord } from './json-value.ts'
import { parseModelMessages, type EntryIssue, type ModelEntry, type ParsedMessages } from './model-messages.ts'
import { isShown, unreadMessage } from './model-parts.ts'

/** Reads these blobs; null for one that is not there. */
export type ReadBlobs = (ids: readonly string[]) => ReadonlyMap<string, Buffer | null>

export interface WalkedState extends Pick<ConversationState, 'contextTokens' | 'workspaceUris' | 'startedAtMs'> {
  /** The thread's messages in their order. The key is the blob's id, with a number behind it where a blob holds several. */
  readonly entries: readonly ModelEntry[]
  readonly issues: readonly EntryIssue[]
}

/** Under this the root itself is named where its id is not known. */
const ROOT = 'root'

/**
 * Every message that a state reaches, from its root down, level by level. Bounded, whatever the ids point at: a blob is
 * read once, and a state that holds itself is left out where it would begin again.
 */
export function walkState(root: Buffer, read: ReadBlobs, rootId: string = ROOT): WalkedState {
  const state = decodeConversationState(root)
  if (state === null) {
    const issues = [{ key: rootId, reason: 'unknown-shape' as const }]
    return { entries: [], issues, contextTokens: null, workspaceUris: [], startedAtMs: null }
  }
  const issues = new Map<string, IssueReason>()
  const { contextTokens, workspaceUris, startedAtMs } = state
  const listed = flatten(state, rootId, gather(state, read), issues)
  const isSilent = state.turns.length > 0 && !listed.some(({ message }) => isShown(message))
  const told = isSilent ? readTurns(state.turns, read, issues) : []
  return {
    entries: told.length > 0 ? told : listed,
    issues: [...issues].map(([key, reason]) => ({ key, reason })),
    contextTokens,
    workspaceUris,
    startedAtMs,
  }
}

/** What was found under the ids that a state names. */
interface Found {
  readonly messages: ReadonlyMap<string, ParsedMessages>
  readonly states: ReadonlyMap<string, ConversationState | null>
  readonly missing: ReadonlySet<string>
}

/** The bytes of so many blobs are held at a time. */
const READ_AT_ONCE = 500

function gather(root: ConversationState, read: ReadBlobs): Found {
  const messages = new Map<string, ParsedMessages>()
  const states = new Map<string, ConversationState | null>()
  const missing = new Set<string>()
  const asked = new Set<string>()
  const isNew = (entry: StateEntry): boolean => entry.kind !== 'inline' && !asked.has(`${entry.kind} ${entry.id}`)
  for (let level = root.entries.filter(isNew); level.length > 0;) {
    const below: StateEntry[] = []
    for (let at = 0; at < level.length; at += READ_AT_ONCE) {
      const some = level.slice(at, at + READ_AT_ONCE).filter(isNew)
      const blobs = read([...new Set(some.flatMap((entry) => (entry.kind === 'inline' ? [] : entry.id)))])
      for (const entry of some) {
        if (entry.kind === 'inline' || !isNew(entry)) continue
        asked.add(`${entry.kind} ${entry.id}`)
        const bytes = blobs.get(entry.id) ?? null
        if (bytes === null) missing.add(entry.id)
        else if (entry.kind === 'blob') messages.set(entry.id, parseModelMessages(bytes))
        else {
          const state = decodeConversationState(bytes)
          states.set(entry.id, state)
          for (const each of state?.entries ?? []) below.push(each)
        }
      }
    }
    level = below.filter(isNew)
  }
  return { messages, states, missing }
}

/** Far beyond any chat; a tree that names its parts again and again would else have no end. */
const STEPS_MAX = 200_000

interface Frame {
  readonly id: string
  readonly entries: readonly StateEntry[]
  at: number
}

function flatten(
  root: ConversationState,
  rootId: string,
  found: Found,
  issues: Map<string, IssueReason>,
): ModelEntry[] {
  const listed: ModelEntry[] = []
  const path = new Set([rootId])
  const frames: Frame[] = [{ id: rootId, entries: root.entries, at: 0 }]
  for (let steps = 0; frames.length > 0; steps += 1) {
    if (steps === STEPS_MAX) {
      issues.set(rootId, 'too-large')
      break
    }
    const frame = frames.at(-1)
    const entry = frame?.entries[frame.at]
    if (frame === undefined || entry === undefined) {
      path.delete(frame?.id ?? '')
      frames.pop()
      continue
    }
    frame.at += 1
    if (entry.kind !== 'subtree') {
      listed.push(...entriesOf(entry, found, issues))
      continue
    }
    const below = found.states.get(entry.id) ?? null
    if (path.has(entry.id)) issues.set(entry.id, 'blob-cycle')
    else if (below === null) issues.set(entry.id, found.missing.has(entry.id) ? 'missing-blob' : 'unknown-shape')
    else {
      path.add(entry.id)
      frames.push({ id: entry.id, entries: below.entries, at: 0 })
    }
  }
  return listed
}

function entriesOf(
  entry: Exclude<StateEntry, { readonly kind: 'subtree' }>,
  found: Found,
  issues: Map<string, IssueReason>,
): ModelEntry[] {
  const key = entry.kind === 'blob' ? entry.id : digest('sha256', entry.bytes)
  const parsed = entry.kind === 'blob' ? found.messages.get(key) : parseModelMessages(entry.bytes)
  if (parsed?.kind === 'messages') return keyed(key, parsed.messages)
  issues.set(key, parsed?.reason ?? 'missing-blob')
  return [{ key, message: unreadMessage }]
}

const keyed = (key: string, messages: readonly JsonRecord[]): ModelEntry[] =>
  messages.map((message, at) => ({ key: messages.length === 1 ? key : `${key}/${at}`, message }))

/** The thread as its turns tell it, for a state whose own list names no message that can be shown. */
function readTurns(ids: readonly string[], read: ReadBlobs, issues: Map<string, IssueReason>): ModelEntry[] {
  const turns = read([...new Set(ids)])
  const decoded = ids.map((id) => {
    const bytes = turns.get(id) ?? null
    const turn = bytes === null ? null : decodeTurn(bytes)
    if (turn === null) issues.set(id, bytes === null ? 'missing-blob' : 'unknown-shape')
    return turn ?? { userMessage: null, steps: [] }
  })
  const named = decoded.flatMap(({ userMessage, steps }) => (userMessage === null ? steps : [userMessage, ...steps]))
  const blobs = read([...new Set(named)])
  const tell = (id: string, decode: (bytes: Buffer) => JsonRecord | null): ModelEntry => {
    const bytes = blobs.get(id) ?? null
    const message = bytes === null ? null : decode(bytes)
    if (message === null) issues.set(id, bytes === null ? 'missing-blob' : 'unknown-shape')
    return { key: id, message: message ?? unreadMessage }
  }
  return decoded.flatMap(({ userMessage, steps }) => [
    ...(userMessage === null ? [] : [tell(userMessage, promptOf)]),
    ...steps.map((id) => tell(id, answerOf)),
  ])
}

function promptOf(bytes: Buffer): JsonRecord | null {
  const text = decodeTurnMessage(bytes)
  return text === null ? null : { role: 'user', content: text }
}

function answerOf(bytes: Buffer): JsonRecord | null {
  const step = decodeStep(bytes)
  return step === null ? null : { role: 'assistant', content: contentOf(step) }
}

/** A step in the words of the other form. */
function contentOf(step: StateStep): readonly JsonRecord[] {
  if (step.kind === 'text') return [{ type: 'text', text: step.text }]
  if (step.kind === 'thinking') return [{ type: 'reasoning', text: step.text, durationMs: step.durationMs }]
  return step.kind === 'tool' ? [{ type: 'tool-call', toolName: step.name, input: step.input }] : []
}
