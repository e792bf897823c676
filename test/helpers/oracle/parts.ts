import { payloadOf } from './payload.ts'
import { asArray, asFields, asText, parseJson } from './values.ts'
import type { Fields } from './values.ts'

export interface ToolCall {
  readonly name: string
  readonly status: string
  readonly callId: string | null
  readonly input: unknown
  readonly output: unknown
  readonly error: string | null
}

/** A message's content by kind, as far as Cursor's format is known for sure. */
export interface Holdings {
  readonly text: readonly string[]
  readonly thinking: readonly string[]
  /** Only blocks that the text does not repeat. It is left open whether a repeated block is a separate part. */
  readonly code: readonly string[]
  readonly tool: readonly ToolCall[]
  readonly attachment: readonly string[]
  readonly todo: readonly string[]
  /** The lines of every error, sorted, because the order of its strings is left open. */
  readonly error: readonly string[]
}

/** Fields that may contain a message's text, best first. */
const TEXT_FIELDS = ['text', 'richText', 'rawText', 'delegate', 'initText', 'content', 'message']

export function holdingsOf(bubble: Fields, toolOfOldForm: unknown): Holdings {
  const text = textOf(bubble)
  return {
    text: text === null ? [] : [text],
    thinking: thinkingOf(bubble),
    code: asArray(bubble['codeBlocks'])
      .map((block) => asText(asFields(block)?.['content']))
      .filter((code) => code !== null)
      .filter((code) => !(text ?? '').includes(code)),
    tool: [bubble['toolFormerData'] ?? toolOfOldForm].map(toolOf).filter((call) => call !== null),
    attachment: asArray(bubble['attachedCodeChunks'])
      .map((chunk) => asText(asFields(chunk)?.['relativeWorkspacePath']))
      .filter((path) => path !== null),
    todo: asArray(bubble['todos'])
      .map(todoOf)
      .filter((content) => content !== null),
    error: errorLines(leavesOf(bubble['errorDetails'])),
  }
}

export function isEmpty(holdings: Holdings): boolean {
  return Object.values(holdings).every((held: readonly unknown[]) => held.length === 0)
}

export function errorLines(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split('\n')).sort()
}

function textOf(bubble: Fields): string | null {
  for (const name of TEXT_FIELDS) {
    const text = name === 'richText' ? richTextOf(bubble[name]) : asText(bubble[name])
    if (text !== null) return text
  }
  return null
}

function richTextOf(value: unknown): string | null {
  const root = asFields(asFields(typeof value === 'string' ? parseJson(value) : value)?.['root'])
  if (root === null) return asText(value)
  return asText(asArray(root['children']).map(lexicalText).join('\n'))
}

function lexicalText(node: unknown): string {
  const { type, text, children } = asFields(node) ?? {}
  if (type === 'linebreak') return '\n'
  if (type === 'tab') return '\t'
  return asText(text) ?? asArray(children).map(lexicalText).join('')
}

function thinkingOf(bubble: Fields): readonly string[] {
  const { thinking } = bubble
  const text = asText(thinking) ?? asText(asFields(thinking)?.['text'])
  if (text !== null) return [text]
  return asArray(bubble['allThinkingBlocks'])
    .map((block) => asText(asFields(block)?.['thinking']) ?? asText(asFields(block)?.['text']))
    .filter((block) => block !== null)
}

function todoOf(value: unknown): string | null {
  return asText(asFields(typeof value === 'string' ? parseJson(value) : value)?.['content'])
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(leavesOf)
}

function toolOf(value: unknown): ToolCall | null {
  const call = asFields(value)
  const name = asText(call?.['name'])
  if (call === null || name === null) return null
  return {
    name,
    status: statusOf(call),
    callId: asText(call['toolCallId']),
    input: payloadOf(call['params']) ?? payloadOf(call['rawArgs']),
    output: payloadOf(call['result']),
    error: toolErrorOf(payloadOf(call['error'])),
  }
}

function toolErrorOf(error: unknown): string | null {
  const { clientVisibleErrorMessage, modelVisibleErrorMessage } = asFields(error) ?? {}
  return asText(clientVisibleErrorMessage) ?? asText(modelVisibleErrorMessage) ?? asText(error)
}

function statusOf(call: Fields): string {
  const extra = asFields(call['additionalData'])
  const isRefused = asFields(payloadOf(call['result']))?.['rejected'] === true
  const review = asFields(extra?.['reviewData'])
  const chosen = review?.['status'] === 'Done' ? asText(review['selectedOption']) : null
  const isTaken = chosen === 'accept' || chosen === 'run'
  if (chosen?.startsWith('reject') === true) return 'rejected'
  if (!isTaken && (call['userDecision'] === 'rejected' || isRefused)) return 'rejected'
  const isQuestion = call['name'] === 'ask_question'
  const status = (isQuestion ? asText(extra?.['status']) : null) ?? asText(call['status'])
  const known: Readonly<Record<string, string>> = {
    completed: 'completed',
    submitted: 'completed',
    error: 'error',
    cancelled: 'cancelled',
    loading: 'running',
    pending: 'running',
  }
  return known[status ?? ''] ?? 'unknown'
}
