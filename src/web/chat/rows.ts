import type { Message, Tokens } from '../../api/answers/messages.ts'
import type { Part, ThinkingPart, ToolPart } from '../../model/part.ts'
import { withoutDiffs } from './tools.ts'

/** What stands above the agent's first row after a prompt: its turn, as far as it is loaded. */
export interface TurnHead {
  readonly message: Message
  model: string | null
  /** From its first message to its last; null if a time is unknown. */
  durationMs: number | null
  /** Sums by source, which are never added to each other. */
  readonly tokens: Map<Tokens['source'], { input: number; output: number }>
}

/** One row of the thread: what somebody says, or one step of the agent. Its key stays when other messages are loaded. */
export type Row =
  | { readonly kind: 'prompt'; readonly key: string; readonly message: Message; readonly parts: readonly Part[] }
  | {
      readonly kind: 'words'
      readonly key: string
      readonly message: Message
      readonly parts: readonly Part[]
      readonly head: TurnHead | null
    }
  | {
      readonly kind: 'step'
      readonly key: string
      readonly message: Message
      readonly part: ToolPart | ThinkingPart
      readonly head: TurnHead | null
      /** Whether the rows before and after it are steps too: together they are one block. */
      isAfterStep: boolean
      isBeforeStep: boolean
    }

/** Whether somebody at a keyboard wrote it. */
export const isPrompt = ({ role, isSimulated }: Message): boolean => role === 'user' && !isSimulated

/**
 * The rows of these messages. Cursor writes each step of its agent as a message of its own; a turn is the rows from one prompt
 * to the next. @param isFromStart whether the first of these messages is the chat's first: else its turn began above
 */
export function rowsOf(messages: readonly Message[], isFromStart: boolean): readonly Row[] {
  const rows: Row[] = []
  let turn: TurnHead | null = null
  let isNewTurn = isFromStart
  for (const message of messages) {
    const { role } = message
    const parts = withoutDiffs(message.parts)
    if (role === 'user') {
      isNewTurn = true
      turn = null
      if (parts.length > 0) rows.push({ kind: 'prompt', key: `${message.id} 0`, message, parts })
      continue
    }
    if (isNewTurn) turn = { message, model: null, durationMs: 0, tokens: new Map() }
    if (turn !== null) addTo(turn, message)
    let said: Part[] = []
    const headOnce = (): TurnHead | null => {
      const head = isNewTurn ? turn : null
      isNewTurn = false
      return head
    }
    const endSaid = (end: number): void => {
      if (said.length > 0) {
        rows.push({ kind: 'words', key: `${message.id} ${end}`, message, parts: said, head: headOnce() })
      }
      said = []
    }
    parts.forEach((part, index) => {
      if (part.kind !== 'tool' && part.kind !== 'thinking') {
        said.push(part)
        return
      }
      endSaid(index)
      const before = rows.at(-1)
      const head = headOnce()
      const isAfterStep = before?.kind === 'step' && head === null
      if (before?.kind === 'step') before.isBeforeStep = isAfterStep
      const key = `${message.id} ${index}.`
      rows.push({ kind: 'step', key, message, part, head, isAfterStep, isBeforeStep: false })
    })
    endSaid(parts.length)
  }
  return rows
}

function addTo(turn: TurnHead, { model, createdAt, tokens }: Message): void {
  turn.model ??= model
  const from = turn.message.createdAt
  turn.durationMs = from === null || createdAt === null ? null : Math.max(0, Date.parse(createdAt) - Date.parse(from))
  if (tokens === null) return
  const sum = turn.tokens.get(tokens.source) ?? { input: 0, output: 0 }
  turn.tokens.set(tokens.source, {
    input: sum.input + (tokens.input ?? 0),
    output: sum.output + (tokens.output ?? 0),
  })
}

/** A height to begin with, in pixels. It is measured as soon as the row is in the document. */
export function guessedHeight(row: Row): number {
  const head = row.kind !== 'prompt' && row.head !== null ? 36 : 0
  if (row.kind === 'step') return 37 + head
  const lines = row.parts.reduce((sum, part) => {
    const text = 'text' in part ? (part.text ?? '') : ''
    return sum + Math.min(40, text.split('\n').length + text.length / 90)
  }, 0)
  return (row.kind === 'prompt' ? 90 : 24) + head + lines * 22
}
