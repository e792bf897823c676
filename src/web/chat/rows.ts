import type { Message } from '../../api/answers/messages.ts'
import type { Part, ToolPart } from '../../model/part.ts'
import { callKindOf, type CallKind } from '../../shared/tools.ts'

type ThinkingPart = Extract<Part, { kind: 'thinking' }>

/** Cursor does not show it any more. It has rows of its own, which say so. */
const isDropped = (message: Message): boolean => message.isOrphan || message.deletedInCursor

export interface Call {
  readonly message: Message
  readonly part: ToolPart | ThinkingPart
  /** Index of the part in its message. */
  readonly index: number
}

/** What is shown as one block: what a message says, or a run of tool calls, over several messages if need be. */
export type Row =
  | {
      readonly kind: 'said'
      readonly key: string
      readonly message: Message
      readonly parts: readonly Part[]
      readonly isFirst: boolean
    }
  | { readonly kind: 'run'; readonly key: string; readonly calls: readonly Call[] }

/**
 * Cursor writes each tool call as a message of its own: calls that follow each other become one run.
 * @param seams ids of messages that begin a row, so that what is loaded above them does not change the rows below
 */
export function rowsOf(messages: readonly Message[], seams: readonly string[]): Row[] {
  const rows: Row[] = []
  let calls: Call[] = []
  const endRun = (): void => {
    const first = calls[0]
    if (first !== undefined) rows.push({ kind: 'run', key: `run ${first.message.id} ${first.index}`, calls })
    calls = []
  }
  for (const message of messages) {
    if (message.role === 'user' || isDropped(message) || seams.includes(message.id)) endRun()
    let said: Part[] = []
    let isFirst = true
    const endSaid = (end: number): void => {
      if (said.length > 0) {
        endRun()
        rows.push({ kind: 'said', key: `said ${message.id} ${end}`, message, parts: said, isFirst })
        isFirst = false
      }
      said = []
    }
    message.parts.forEach((part, index) => {
      const isFolded = message.role === 'assistant' && (part.kind === 'tool' || part.kind === 'thinking')
      if (!isFolded) said.push(part)
      else {
        endSaid(index)
        calls.push({ message, part, index })
      }
    })
    endSaid(message.parts.length)
    if (isDropped(message)) endRun()
  }
  endRun()
  return rows
}

/** `12 calls: 7 read, 3 edit, 2 shell, 1 failed`. */
export function describeRun(calls: readonly Call[]): { text: string; failed: number } {
  const tools = calls.flatMap(({ part }) => (part.kind === 'tool' ? [part] : []))
  const kinds = new Map<CallKind, number>()
  for (const { name } of tools) kinds.set(callKindOf(name), (kinds.get(callKindOf(name)) ?? 0) + 1)
  const failed = tools.filter(({ status }) => status === 'error').length
  const list = [...kinds].sort((left, right) => right[1] - left[1]).map(([kind, count]) => `${count} ${kind}`)
  if (tools.length === 0) return { text: 'Thinking', failed }
  return { text: `${tools.length} ${tools.length === 1 ? 'call' : 'calls'}: ${list.join(', ')}`, failed }
}

const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const lines = (text: string | null, sign: string): string[] =>
  text === null ? [] : text.split('\n').map((line) => sign + line)

/** The lines that an edit took away and added, where the call tells. */
export function diffOf({ input, output }: ToolPart): string | null {
  const chunks = (output as { diff?: { chunks?: readonly { diffString?: unknown }[] } } | null)?.diff?.chunks
  if (Array.isArray(chunks)) {
    const text = chunks.map((chunk: { diffString?: unknown }) => asText(chunk.diffString) ?? '').join('\n⋯\n')
    if (text !== '') return text
  }
  const fields = (typeof input === 'object' && input !== null ? input : {}) as Readonly<Record<string, unknown>>
  const before = asText(fields['old_string'] ?? fields['oldString'])
  const after = asText(fields['new_string'] ?? fields['newString'])
  if (before === null && after === null) return null
  return [...lines(before, '-'), ...lines(after, '+')].join('\n')
}

/** The words of a call's output, without the JSON around them. */
export function outputText({ output }: ToolPart): string | null {
  if (output === null || output === undefined) return null
  if (typeof output === 'string') return output
  const fields = output as Readonly<Record<string, unknown>>
  for (const name of ['output', 'contents', 'content', 'text', 'answer', 'result']) {
    const text = asText(fields[name])
    if (text !== null) return text
  }
  return JSON.stringify(output, null, 2)
}
