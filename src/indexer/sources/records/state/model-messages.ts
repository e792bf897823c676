import { constants } from 'node:buffer'
import type { MessageDraft } from '../../../../mirror/write/batch.ts'
import type { MessageId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import type { Json } from '../../../../model/json.ts'
import type { Role } from '../../../../model/message.ts'
import type { Part, ToolPart } from '../../../../model/part.ts'
import type { Outline, OutlineEntry } from '../../../../model/thread.ts'
import { parseExactly } from '../json/exact-json.ts'
import { asRecord, type JsonRecord } from '../json/json-value.ts'
import { decodeEntry, openCall, readResults, type NamedResult } from './model-parts.ts'
import { stringLeaves } from '../json/bound-json.ts'
import { readToolName } from '../message/tool-payload.ts'

export type ParsedMessages =
  | { readonly kind: 'messages'; readonly messages: readonly JsonRecord[] }
  | { readonly kind: 'issue'; readonly reason: IssueReason }

/** A blob of what the model saw: one message, or a list of messages. Total. */
export function parseModelMessages(bytes: Buffer): ParsedMessages {
  if (bytes.length > constants.MAX_STRING_LENGTH) return { kind: 'issue', reason: 'too-large' }
  const parsed = parseExactly(bytes.toString('utf8'))
  if (parsed === null) return { kind: 'issue', reason: 'bad-json' }
  const list: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  const messages = list.map(asRecord).filter((message) => message !== null)
  return messages.length < list.length ? { kind: 'issue', reason: 'not-an-object' } : { kind: 'messages', messages }
}

export interface ToolResult {
  readonly callId: string
  readonly output: Json
  readonly isError: boolean
}

/** The results of tools in a message. */
export const listToolResults = (message: JsonRecord): readonly ToolResult[] =>
  readResults(message).map(({ callId, output, isError }) => ({ callId, output, isError }))

export interface ModelEntry {
  readonly key: string
  readonly message: JsonRecord
  /** When it was sent, epoch milliseconds, if a source other than the message has the time. */
  readonly atMs?: number | null
  /** True if it exists only in the turns. */
  readonly isFromTurn?: boolean
}

export interface EntryIssue {
  readonly key: string
  readonly reason: IssueReason
}

export interface DecodedThread {
  readonly messages: readonly MessageDraft[]
  readonly outline: Outline
  /** The places that exist only in the turns. */
  readonly turnIds: ReadonlySet<MessageId>
  /** At most one per key; the rest of its message was decoded. */
  readonly issues: readonly EntryIssue[]
}

/** A place in the thread: something to show, or a message that could not be read. */
interface Place {
  readonly id: MessageId
  readonly role: Role | null
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
  readonly isSimulated: boolean
}

/**
 * Decodes the entries, in order, into a thread. System messages are left out; results of tools are joined to their
 * calls. `nameMessage` gives an id to a key and its number of previous occurrences, because a blob can be named twice.
 */
export function decodeModelThread(
  entries: readonly ModelEntry[],
  nameMessage: (key: string, occurrence: number) => MessageId,
): DecodedThread {
  const seen = new Map<string, number>()
  const issues = new Map<string, IssueReason>()
  const calls = new Calls()
  const places: Place[] = []
  const turnIds = new Set<MessageId>()
  for (const { key, message, atMs = null, isFromTurn = false } of entries) {
    const occurrence = seen.get(key) ?? 0
    seen.set(key, occurrence + 1)
    const decoded = decodeEntry(message)
    const results = readResults(message)
    const issue = decoded.issue ?? (results.some(({ isTooDeep }) => isTooDeep) ? 'too-deep' : null)
    if (issue !== null && !issues.has(key)) issues.set(key, issue)
    for (const part of decoded.parts) if (part.kind === 'tool') calls.open(part)
    const parts = [...decoded.parts, ...results.flatMap((result) => calls.answer(result))]
    if (parts.length === 0 && !decoded.isGap) continue
    const { role, isSimulated } = decoded
    const id = nameMessage(key, occurrence)
    if (isFromTurn) turnIds.add(id)
    places.push({ id, role: decoded.isGap ? null : role, parts, sentAtMs: decoded.sentAtMs ?? atMs, isSimulated })
  }
  const settled = places.map((place, at) => calls.settle(place, at === places.length - 1))
  return {
    messages: settled.flatMap(draftOf),
    outline: settled.map(({ id, role }): OutlineEntry => ({ id, role, createdAtMs: null, startedAtMs: null })),
    turnIds,
    issues: [...issues].map(([key, reason]) => ({ key, reason })),
  }
}

const draftOf = ({ id, role, parts, sentAtMs, isSimulated }: Place): MessageDraft[] =>
  role === null || parts.length === 0 ? [] : [{ ...plainMessage, id, role, parts, sentAtMs, isSimulated }]

const plainMessage = {
  alias: null,
  startedAtMs: null,
  timingAtMs: null,
  model: null,
  tokens: null,
  octets: 0,
  isEmbedded: true,
}

/** Calls with their results. An id can be used again; a result then belongs to the last call before it. */
class Calls {
  readonly #open = new Map<string, ToolPart>()
  readonly #results = new Map<ToolPart, NamedResult>()

  open(call: ToolPart): void {
    if (call.callId !== null) this.#open.set(call.callId, call)
  }

  /** @returns what to show for a result without a call */
  answer(result: NamedResult): ToolPart[] {
    const call = this.#open.get(result.callId)
    this.#open.delete(result.callId)
    if (call !== undefined) {
      this.#results.set(call, result)
      return []
    }
    const callId = result.callId === '' ? null : result.callId
    const alone: ToolPart = { ...openCall, name: readToolName(result.toolName, null), callId }
    this.#results.set(alone, result)
    return [alone]
  }

  /** A call without a result is still running if nothing follows it. */
  settle(place: Place, isLast: boolean): Place {
    const settle = (part: Part): Part => (part.kind === 'tool' ? this.#settled(part, isLast) : part)
    return { ...place, parts: place.parts.map(settle) }
  }

  #settled(call: ToolPart, isLast: boolean): ToolPart {
    const result = this.#results.get(call)
    if (result === undefined) return { ...call, status: isLast ? 'running' : 'completed' }
    if (!result.isError) return { ...call, status: 'completed', output: result.output }
    const error = stringLeaves(result.output).join('\n')
    return { ...call, status: 'error', output: result.output, error: error === '' ? null : error }
  }
}
