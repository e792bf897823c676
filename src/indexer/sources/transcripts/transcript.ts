import type { MessageDraft } from '../../../mirror/write/batch.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Role } from '../../../model/message.ts'
import type { Part, ToolStatus } from '../../../model/part.ts'
import type { Outline, OutlineEntry } from '../../../model/thread.ts'
import type { NameMessage } from '../../open-safely/whole-store.ts'
import { isBlank } from '../records/json/json-value.ts'
import type { Prompt } from '../records/message/unwrap-prompt.ts'

/** A message. */
interface Said {
  readonly kind: 'said'
  readonly role: Role
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
}

/** One step of a transcript of any form, in the file's order. */
export type Step =
  | Said
  /** The place of a message that could not be read. */
  | { readonly kind: 'gap' }
  /** A line about the run, no message. `turn`: how a turn ended there, if one did; `error`: what it failed of, if it did. */
  | { readonly kind: 'control'; readonly turn: 'ended' | 'cut' | null; readonly error: string }

export interface Steps {
  readonly steps: readonly Step[]
  readonly issue: IssueReason | null
  /** As in `DecodedTranscript`. */
  readonly prompts?: number
}

/** A step, and what of it could not be read. */
export interface DecodedStep {
  readonly step: Step
  readonly issue: IssueReason | null
}

export const unread = (issue: IssueReason): DecodedStep => ({ step: { kind: 'gap' }, issue })

export interface DecodedTranscript {
  readonly messages: readonly MessageDraft[]
  readonly outline: Outline
  /** Something in the file could not be read; the rest stands. */
  readonly issue: IssueReason | null
  /** True where the file tells of a run and holds nothing of what was said. */
  readonly hasOnlyControl: boolean
  /** The number of messages that are certain to be prompts; left out where every message of the user is. */
  readonly prompts?: number
}

/** Gives every message its id and place. A place without anything to show stays, as a gap. */
export function arrangeSteps(
  { steps, issue, ...told }: Steps,
  chatId: ChatId,
  nameMessage: NameMessage,
): DecodedTranscript {
  const places = settleCalls(tellErrors(steps)).filter((step) => step.kind !== 'control')
  const messages: MessageDraft[] = []
  const outline: OutlineEntry[] = []
  for (const [ordinal, step] of places.entries()) {
    const id = nameMessage(chatId, ordinal)
    const role = step.kind === 'said' ? step.role : null
    outline.push({ id, role, createdAtMs: null, startedAtMs: null })
    if (step.kind === 'said' && step.parts.length > 0) messages.push({ ...plainMessage, ...draftOf(step), id })
  }
  return { messages, outline, issue, hasOnlyControl: places.length === 0 && steps.length > 0, ...told }
}

const plainMessage = {
  alias: null,
  startedAtMs: null,
  timingAtMs: null,
  model: null,
  tokens: null,
  isSimulated: false,
  octets: 0,
  isEmbedded: true,
}

const draftOf = ({ role, parts, sentAtMs }: Said) => ({ role, parts, sentAtMs })

/** What a turn failed of belongs to its answer, which may have told it; where a prompt has none, it is the answer. */
function tellErrors(steps: readonly Step[]): readonly Step[] {
  const told: Step[] = []
  for (const step of steps) {
    if (step.kind === 'control' && step.error !== '') tellError(told, step.error)
    told.push(step)
  }
  return told
}

function tellError(told: Step[], text: string): void {
  const at = told.findLastIndex((step) => step.kind !== 'control')
  const last = told[at]
  if (last === undefined) return
  if (last.kind !== 'said' || last.role === 'user') told.push(errorStep(text))
  else if (!last.parts.some((part) => part.kind === 'error' && part.text === text)) {
    told[at] = { ...last, parts: [...last.parts, { kind: 'error', text }] }
  }
}

/** An answer that is nothing but an error. */
export const errorStep = (text: string): Said => answerStep([{ kind: 'error', text }])

export const answerStep = (parts: readonly Part[]): Said => ({ kind: 'said', role: 'assistant', parts, sentAtMs: null })

/**
 * A transcript does not say how a call ended, only whether anything came after it. `completed`: the run went on, or
 * there is a result. `cancelled`: the turn was cut off at this call. `running`: it is the last thing there is.
 */
function settleCalls(steps: readonly Step[]): readonly Step[] {
  let status: ToolStatus = 'running'
  const settled: Step[] = []
  for (const step of steps.toReversed()) {
    settled.push(settleStep(step, status))
    status = statusBefore(step) ?? status
  }
  return settled.reverse()
}

/** How calls ended that stand right before this step; null where it says nothing about them. */
function statusBefore(step: Step): ToolStatus | null {
  if (step.kind === 'gap') return 'completed'
  if (step.kind === 'said') return step.parts.some((part) => part.kind === 'error') ? 'cancelled' : 'completed'
  if (step.turn === null) return null
  return step.turn === 'cut' ? 'cancelled' : 'completed'
}

function settleStep(step: Step, status: ToolStatus): Step {
  if (step.kind !== 'said') return step
  const settle = (part: Part): Part => (part.kind === 'tool' && part.status === 'running' ? { ...part, status } : part)
  return { ...step, parts: step.parts.map(settle) }
}

/** A user's message, of the pieces in which it stood. */
export function promptStep(prompts: readonly Prompt[]): Said {
  const texts = prompts.flatMap((prompt) => prompt.texts)
  const paths = [...new Set(prompts.flatMap((prompt) => prompt.paths))]
  const parts: readonly Part[] = [
    ...texts.map((text) => ({ kind: 'text' as const, text })),
    ...paths.map((path) => ({ kind: 'attachment' as const, path, text: null })),
  ]
  const sentAtMs = prompts.map((prompt) => prompt.sentAtMs).find((time) => time !== null) ?? null
  return { kind: 'said', role: 'user', parts, sentAtMs }
}

/** In place of reasoning that was not written down. Beside words it stays, as they stand. */
export const isRedacted = (text: string): boolean => text.trim() === '[REDACTED]'

/** A thought may be left open by an answer that broke off. Tags that stand in code are words like any other. */
const codeOrThought = /```[^]*?(?:```|$)|`[^`\n]*`|<think>([^]*?)(?:<\/think>|$)/g

/** The words of an answer, with its reasoning where some models write it: `<think>…</think>`. */
export function answerParts(text: string): readonly Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of text.matchAll(codeOrThought)) {
    const [tagged, thought] = match
    const before = text.slice(from, match.index)
    // Without an end, it may only be spoken of.
    const isThought = thought !== undefined && (tagged.endsWith('</think>') || /(?:^|\n)[ \t]*$/.test(before))
    if (!isThought) continue
    parts.push(...partOf('text', before), ...partOf('thinking', thought))
    from = match.index + tagged.length
  }
  // Words without reasoning are kept to the letter.
  return [...parts, ...partOf('text', text.slice(from), from === 0)]
}

function partOf(kind: 'text' | 'thinking', words: string, isWhole = false): readonly Part[] {
  const text = isWhole ? words : words.trim()
  if (isBlank(text) || isRedacted(text)) return []
  return kind === 'text' ? [{ kind, text }] : [{ kind, text, durationMs: null }]
}
