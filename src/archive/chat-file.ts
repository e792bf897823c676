import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { archivedChat, archivedMessage, type ArchivedChat, type ArchivedMessage } from './record.ts'

/** An object's text, a line at a time, each with its line feed: the chat, then its messages. */
export function* encodeChat(chat: ArchivedChat, messages: Iterable<ArchivedMessage>): Generator<string> {
  yield `${JSON.stringify(chat)}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
}

/** What the manifest says of a line: the SHA-256 of its bytes, without the line feed, as lower-case hex. */
export const lineHash = (line: string): string => createHash('sha256').update(line).digest('hex')

export interface DecodedChat {
  readonly chat: ArchivedChat
  readonly messages: readonly ArchivedMessage[]
}

export type Decoded<Value> =
  | { readonly kind: 'sound'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

/** Reads an object's text. Total: whatever the text holds, it is a chat or a sentence about what is wrong with it. */
export function decodeChat(text: string): Decoded<DecodedChat> {
  if (!text.endsWith('\n')) return damaged('its last line is cut off')
  const [head = '', ...lines] = text.slice(0, -1).split('\n')
  const chat = decodeLine(archivedChat, head, 1)
  if (chat.kind === 'damaged') return chat
  const messages: ArchivedMessage[] = []
  for (const [index, line] of lines.entries()) {
    const message = decodeLine(archivedMessage, line, index + 2)
    if (message.kind === 'damaged') return message
    messages.push(message.value)
  }
  const { messageCount } = chat.value
  if (messages.length !== messageCount) return damaged(`it holds ${messages.length} messages, not ${messageCount}`)
  if (new Set(messages.map(({ id }) => id)).size < messages.length) return damaged('two of its messages have one id')
  return { kind: 'sound', value: { chat: chat.value, messages } }
}

/** A schema keeps the order of its own keys, so that a line read and written again is the same line. */
function decodeLine<Schema extends z.ZodType>(schema: Schema, line: string, number: number): Decoded<z.infer<Schema>> {
  let given: unknown
  try {
    given = JSON.parse(line)
  } catch {
    return damaged(`line ${number} is not JSON`)
  }
  const read = schema.safeParse(given)
  if (read.success) return { kind: 'sound', value: read.data }
  const [issue] = read.error.issues
  return damaged(`line ${number}, ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not what it should be'}`)
}

const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })
