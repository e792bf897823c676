import { hash } from 'node:crypto'
import type * as z from 'zod/mini'
import { issueText } from './issue-text.ts'
import { archivedChat, archivedMessage, type ArchivedChat, type ArchivedMessage } from './record.ts'

/** An object's text, a line at a time, each with its line feed: the chat, then its messages. */
export function* encodeChat(chat: ArchivedChat, messages: Iterable<ArchivedMessage>): Generator<string> {
  yield `${JSON.stringify(chat)}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
}

/** What the manifest says of a line: the SHA-256 of its bytes, without the line feed, as lower-case hex. */
export const lineHash = (line: string): string => hash('sha256', line)

export interface DecodedChat {
  readonly chat: ArchivedChat
  readonly messages: readonly ArchivedMessage[]
}

export type Decoded<Value> =
  | { readonly kind: 'sound'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

/** Reads an object's text. Total: whatever the text holds, it is a chat or a sentence about what is wrong with it. */
export function decodeChat(text: string): Decoded<DecodedChat> {
  const messages: ArchivedMessage[] = []
  const read = readChat(text, (message) => {
    messages.push(message)
  })
  return read.kind === 'damaged' ? read : { kind: 'sound', value: { chat: read.value, messages } }
}

/**
 * The same, a message at a time, so that a chat of any length takes no more memory than its text.
 * @param onMessage gets each message, with its line without the line feed
 * @returns the chat on the first line
 */
export function readChat(
  text: string,
  onMessage: (message: ArchivedMessage, line: string) => void,
): Decoded<ArchivedChat> {
  if (!text.endsWith('\n')) return damaged('its last line is cut off')
  let end = text.indexOf('\n')
  const chat = decodeLine(archivedChat, text.slice(0, end), 1)
  if (chat.kind === 'damaged') return chat
  const ids = new Set<string>()
  let number = 1
  while (end < text.length - 1) {
    const start = end + 1
    end = text.indexOf('\n', start)
    number += 1
    const line = text.slice(start, end)
    const message = decodeLine(archivedMessage, line, number)
    if (message.kind === 'damaged') return message
    ids.add(message.value.id)
    onMessage(message.value, line)
  }
  const { messageCount } = chat.value
  if (number - 1 !== messageCount) return damaged(`it holds ${number - 1} messages, not ${messageCount}`)
  return ids.size < messageCount ? damaged('two of its messages have one id') : chat
}

/** What the line holds is given as it stands there: written again, it is the same line. */
function decodeLine<Schema extends z.ZodMiniType>(
  schema: Schema,
  line: string,
  number: number,
): Decoded<z.infer<Schema>> {
  let given: unknown
  try {
    given = JSON.parse(line)
  } catch {
    return damaged(`line ${number} is not JSON`)
  }
  const read = schema.safeParse(given)
  if (read.success) return { kind: 'sound', value: given as z.infer<Schema> }
  return damaged(`line ${number}, ${issueText(read.error)}`)
}

const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })
