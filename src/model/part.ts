import type { Json } from './json.ts'

export const toolStatuses = ['completed', 'error', 'cancelled', 'rejected', 'running'] as const
export type ToolStatus = (typeof toolStatuses)[number]

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
}

export interface ThinkingPart {
  readonly kind: 'thinking'
  readonly text: string
  readonly durationMs: number | null
}

export interface CodePart {
  readonly kind: 'code'
  readonly language: string | null
  readonly path: string | null
  readonly text: string
}

export interface ToolPart {
  readonly kind: 'tool'
  readonly name: string
  readonly status: ToolStatus
  readonly callId: string | null
  /** Parsed if it is valid JSON, else the original string. */
  readonly input: Json
  readonly output: Json
  /** `blob`: the message's own row lacks the output; it was found in the data sent to the model. */
  readonly outputFrom?: 'blob'
  readonly error: string | null
  /** Files and folders that the call names, in its own spelling. */
  readonly paths: readonly string[]
}

export interface AttachmentPart {
  readonly kind: 'attachment'
  readonly path: string
  readonly text: string | null
  /** SHA-256 under which Cursor stores the text, if it is not in the message's row. */
  readonly hash?: string
  /** Bytes of the whole text, if `text` is only its beginning. */
  readonly cappedFrom?: number
  /** Of an image, in an answer: its type, the size of its file in bytes, whether it is there now, and where it is served. */
  readonly mime?: string
  readonly bytes?: number | null
  readonly exists?: boolean
  readonly href?: string
}

export interface TodoItem {
  readonly id: string | null
  readonly content: string
  readonly status: string | null
}

export interface TodoPart {
  readonly kind: 'todo'
  readonly items: readonly TodoItem[]
}

export interface ErrorPart {
  readonly kind: 'error'
  readonly text: string
}

/** A plan: a document that an agent wrote before it began. */
export interface PlanPart {
  readonly kind: 'plan'
  readonly title: string | null
  readonly path: string | null
  readonly text: string
}

/** What Cursor wrote in place of messages that no longer fitted, or about a chat. Nobody said it. */
export interface SummaryPart {
  readonly kind: 'summary'
  readonly text: string
}

/** One part of a message. A message has all parts of its row, in display order. */
export type Part =
  | TextPart
  | ThinkingPart
  | CodePart
  | ToolPart
  | AttachmentPart
  | TodoPart
  | ErrorPart
  | PlanPart
  | SummaryPart
