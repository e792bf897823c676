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

/** A blob of what the model saw: one message, or a list of them. Total. */
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

/** What tools gave back, as a message tells it. */
export const listToolResults = (message: JsonRecord): readonly ToolResult[] =>
  readResults(message).map(({ callId, output, isError }) => ({ callId, output, isError }))

export interface ModelEntry {
  readonly key: string
  readonly message: JsonRecord
  /** When it was said, epoch ms, where something beside the message tells. */
  readonly atMs?: number | null
  /** True where only the turns still tell of it. */
  readonly isFromTurn?: boolean
}

export interface EntryIssue {
  readonly key: string
  readonly reason: IssueReason
}

export interface DecodedThread {
  readonly messages: readonly MessageDraft[]
  readonly outline: Outline
  /** Of the places that only the turns still tell of. */
  readonly turnIds: ReadonlySet<MessageId>
  /** Of each key at most one; what else its message holds stands. */
  readonly issues: readonly EntryIssue[]
}

/** A place in the thread: what a person is shown, or a message that could not be read. */
interface Place {
  readonly id: MessageId
  readonly role: Role | null
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
  readonly isSimulated: boolean
}

/**
 * The thread that entries make in their order. What the system says is never told; what tools gave back joins the calls.
 * `nameMessage` gives an id for a key and how often it stood before, for a blob can be named twice.
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
    const said = decodeEntry(message)
    const results = readResults(message)
    const issue = said.issue ?? (results.some(({ isTooDeep }) => isTooDeep) ? 'too-deep' : null)
    if (issue !== null && !issues.has(key)) issues.set(key, issue)
    for (const part of said.parts) if (part.kind === 'tool') calls.open(part)
    const parts = [...said.parts, ...results.flatMap((result) => calls.answer(result))]
    if (parts.length === 0 && !said.isGap) continue
    const { role, isSimulated } = said
    const id = nameMessage(key, occurrence)
    if (isFromTurn) turnIds.add(id)
    places.push({ id, role: said.isGap ? null : role, parts, sentAtMs: said.sentAtMs ?? atMs, isSimulated })
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

/** Calls, each with its result where there is one. An id can be used again: then the last call before the result has it. */
class Calls {
  readonly #open = new Map<string, ToolPart>()
  readonly #results = new Map<ToolPart, NamedResult>()

  open(call: ToolPart): void {
    if (call.callId !== null) this.#open.set(call.callId, call)
  }

  /** @returns what to show of a result whose call is not there */
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

  /** A call without a result runs still if nothing follows. */
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
