import type { MessageDraft, PendingReference } from '../../../model/change.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Json } from '../../../model/json.ts'
import type { Role } from '../../../model/message.ts'
import type { Part, ToolStatus, ToolPart } from '../../../model/part.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import type { NameMessage } from '../../open-safely/whole-store.ts'
import { isBlank, stringLeaves } from '../records/json.ts'
import { plainMessage } from '../records/model-messages.ts'
import { noInput, openCall, withPlans } from '../records/tool.ts'
import { joinPrompts, type Prompt } from '../records/unwrap-prompt.ts'

interface MessageStep {
  readonly kind: 'message'
  readonly role: Role
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
}

/** One step of a transcript of any format, in the file's order. `issue` says why part of it could not be read. */
export type Step = { readonly issue?: IssueReason | null } & (
  | MessageStep
  /** The place of a message that could not be read. */
  | { readonly kind: 'gap' }
  /**
   * A line about the run that is not a message. `turn`: how a turn ended there, if one did. `error`: why it failed, if
   * it did.
   */
  | { readonly kind: 'control'; readonly turn: 'ended' | 'cut' | null; readonly error: string }
)

export interface Steps {
  readonly steps: readonly Step[]
  /** Why there is nothing to read; otherwise the first issue of a step counts. */
  readonly issue?: IssueReason | null
  /** The number of messages that are certainly prompts; left out if all user messages are. */
  readonly prompts?: number
}

export const unread = (issue: IssueReason): Step => ({ kind: 'gap', issue })

export type DecodedTranscript = ReturnType<typeof arrangeSteps>

/** Gives every message an id and a place. A place without anything to show stays, as a gap. */
export function arrangeSteps({ steps, issue, ...result }: Steps, chatId: ChatId, nameMessage: NameMessage) {
  const places = settleCalls(addErrors(steps)).filter((step) => step.kind !== 'control')
  const messages: MessageDraft[] = []
  const outline: OutlineEntry[] = []
  for (const [ordinal, step] of places.entries()) {
    const id = nameMessage(chatId, ordinal)
    const role = step.kind === 'message' ? step.role : null
    outline.push({ id, role, createdAtMs: null, startedAtMs: null })
    if (step.kind !== 'message' || step.parts.length === 0) continue
    const references = missingOutputs(step.parts, chatId)
    const told = { id, role: step.role, parts: withPlans(step.parts), sentAtMs: step.sentAtMs }
    messages.push({ ...plainMessage, ...told, ...(references.length === 0 ? {} : { references }) })
  }
  // A file without any content is being rewritten: the mirror keeps the chat until the file has content again.
  const found = issue ?? steps.find((step) => (step.issue ?? null) !== null)?.issue
  return {
    messages,
    outline,
    /** Why a part of the file could not be read; everything else was decoded. */
    issue: found ?? (steps.length === 0 ? ('null-value' as const) : null),
    ...result,
  }
}

/**
 * The error of a turn is added to its answer, unless the answer already contains it. For a prompt without an answer,
 * the error is the answer.
 */
function addErrors(steps: readonly Step[]): readonly Step[] {
  const result: Step[] = []
  for (const step of steps) {
    const at = result.findLastIndex(({ kind }) => kind !== 'control')
    const last = result[at]
    if (step.kind === 'control' && step.error !== '' && last !== undefined) {
      const text = step.error
      if (last.kind !== 'message' || last.role === 'user') result.push(errorStep(text))
      else if (!last.parts.some((part) => part.kind === 'error' && part.text === text))
        result[at] = { ...last, parts: [...last.parts, { kind: 'error', text }] }
    }
    result.push(step)
  }
  return result
}

/** An answer that consists of an error. */
export const errorStep = (text: string): MessageStep => answerStep([{ kind: 'error', text }])

export const answerStep = (parts: readonly Part[]): MessageStep => ({
  kind: 'message',
  role: 'assistant',
  parts,
  sentAtMs: null,
})

/**
 * A transcript does not record how a call ended, only whether something came after it. `completed`: the run continued,
 * or there is a result. `cancelled`: the turn was aborted at this call. `running`: it is the last step.
 */
function settleCalls(steps: readonly Step[]): readonly Step[] {
  let status: ToolStatus = 'running'
  const settled = steps.toReversed().map((step): Step => {
    const after = status
    const settle = (part: Part): Part =>
      part.kind === 'tool' && part.status === 'running' ? { ...part, status: after } : part
    status = statusBefore(step) ?? status
    return step.kind === 'message' ? { ...step, parts: step.parts.map(settle) } : step
  })
  return settled.reverse()
}

/** How calls directly before this step ended; null if the step does not tell. */
function statusBefore(step: Step): ToolStatus | null {
  if (step.kind === 'gap') return 'completed'
  if (step.kind === 'message') return step.parts.some((part) => part.kind === 'error') ? 'cancelled' : 'completed'
  if (step.turn === null) return null
  return step.turn === 'cut' ? 'cancelled' : 'completed'
}

/** A user's message, from its pieces. */
export const promptStep = (prompts: readonly Prompt[]): MessageStep => ({
  kind: 'message',
  role: 'user',
  ...joinPrompts(prompts),
})

/** A placeholder for reasoning that was not recorded. Next to other words it is kept, as normal text. */
export const isRedacted = (text: string): boolean => text.trim() === '[REDACTED]'

/** A thought can lack its closing tag if the answer was cut off. Tags in code are normal text. */
const codeOrThought = /```[^]*?(?:```|$)|`[^`\n]*`|<think>([^]*?)(?:<\/think>|$)/g

/** The text of an answer, with the reasoning that some models write as `<think>…</think>`. */
export function answerParts(text: string): readonly Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of text.matchAll(codeOrThought)) {
    const [tagged, thought] = match
    const before = text.slice(from, match.index)
    // Without a closing tag it may only be a mention of the tag.
    const isThought = thought !== undefined && (tagged.endsWith('</think>') || /(?:^|\n)[ \t]*$/.test(before))
    if (!isThought) continue
    parts.push(...partOf('text', before), ...partOf('thinking', thought))
    from = match.index + tagged.length
  }
  // Text without reasoning is kept unchanged.
  return [...parts, ...partOf('text', text.slice(from), from === 0)]
}

function partOf(kind: 'text' | 'thinking', words: string, isWhole = false): readonly Part[] {
  const text = isWhole ? words : words.trim()
  if (isBlank(text) || isRedacted(text)) return []
  return kind === 'text' ? [{ kind, text }] : [{ kind, text, durationMs: null }]
}

/** At most this many calls wait for their results. */
const openCallsMax = 100

interface OpenCall {
  readonly parts: Part[]
  readonly at: number
}

function callAt({ parts, at }: OpenCall): ToolPart | null {
  const part = parts[at]
  return part?.kind === 'tool' ? part : null
}

/**
 * The calls of a turn that have no result yet. Results are in the order of the calls, and most of them name the tool.
 */
export class OpenCalls {
  readonly #calls: OpenCall[] = []

  /** Appends the call to the parts of its message. */
  add(parts: Part[], call: ToolPart): void {
    this.#calls.push({ parts, at: parts.length })
    parts.push(call)
    if (this.#calls.length > openCallsMax) this.#calls.shift()
  }

  /**
   * Gives the result to the first open call of this tool, otherwise to the first open call. If no call is open, a
   * result with an output becomes a part of its own in `orphans`. Many results have no output.
   */
  end(name: string, output: Json, orphans: Part[]): void {
    const named = this.#calls.findIndex((open) => callAt(open)?.name === name)
    this.#settle(Math.max(named, 0), name, { status: 'completed', output }, orphans)
  }

  /** Gives the result to the open call with this id. A result without an id belongs to the first open call. */
  answer(callId: string | null, output: Json, isError: boolean, orphans: Part[]): void {
    const at = callId === null ? 0 : this.#calls.findIndex((open) => callAt(open)?.callId === callId)
    const error = isError ? stringLeaves(output).join('\n') : ''
    const ended = { status: isError ? ('error' as const) : ('completed' as const), output, error: error || null }
    this.#settle(at, '', ended, orphans)
  }

  #settle(at: number, name: string, ended: Pick<ToolPart, 'status' | 'output'>, orphans: Part[]): void {
    const [open] = at < 0 ? [] : this.#calls.splice(at, 1)
    const call = open === undefined ? null : callAt(open)
    if (open !== undefined && call !== null) open.parts[open.at] = { ...call, ...ended }
    else if (ended.output !== null) orphans.push({ ...openCall(name || null, null, noInput).part, ...ended })
  }

  /** Call this at the end of a turn. */
  clear(): void {
    this.#calls.length = 0
  }
}

/** A file beside the transcripts, to which Cursor wrote a long output for the agent to read. */
export const OUTPUT_FILE = /(?:^|[\\/])agent-tools[\\/]([^\\/]+\.txt)$/
/** How ids of agents of the SDK begin. */
const SDK_PREFIX = 'agent-'

/**
 * The outputs that a transcript leaves out and that have another place: files that a call reads, and calls of an agent of the
 * SDK. A call that has no id is known by the file.
 */
export function missingOutputs(parts: readonly Part[], chatId: ChatId): readonly PendingReference[] {
  return parts.flatMap((part): PendingReference[] => {
    if (part.kind !== 'tool' || part.output !== null) return []
    const file = part.callId === null ? part.paths.find((path) => OUTPUT_FILE.test(path)) : undefined
    const name = file ?? (chatId.startsWith(SDK_PREFIX) ? part.callId : null)
    return name === null ? [] : [{ kind: 'output', name, path: null }]
  })
}
