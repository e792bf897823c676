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
  /** Parsed JSON where it parses, else the string as it stood. */
  readonly input: Json
  readonly output: Json
  /** `blob`: the message's own row leaves the output out; it was found in what was sent to the model. */
  readonly outputFrom?: 'blob'
  readonly error: string | null
  /** Files and folders the call names, as it names them. */
  readonly paths: readonly string[]
}

export interface AttachmentPart {
  readonly kind: 'attachment'
  readonly path: string
  readonly text: string | null
  /** SHA-256 under which Cursor keeps the text, where it stands apart from the message. */
  readonly hash?: string
  /** Bytes of the whole, where `text` is only its beginning. */
  readonly cappedFrom?: number
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

/** One thing a message holds. A message has them in display order, every one that its row held. */
export type Part = TextPart | ThinkingPart | CodePart | ToolPart | AttachmentPart | TodoPart | ErrorPart
