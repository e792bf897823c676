import type { IssueReason } from '../../../../model/issue.ts'
import type { Role } from '../../../../model/message.ts'
import { decodeStep, decodeTurn, decodeTurnMessage, type StateStep } from './conversation-state.ts'
import type { JsonRecord } from '../json/json-value.ts'
import type { ModelEntry } from './model-messages.ts'
import { decodeEntry, unreadMessage, keyOfCall, keysOf } from './model-parts.ts'

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
