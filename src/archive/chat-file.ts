import { hash } from 'node:crypto'
import type * as z from 'zod/mini'
import { archivedChat, archivedMessage, type ArchivedChat, type ArchivedMessage } from './record.ts'

/** The lines of an object's text, with line feeds: the chat, then its messages. */
export function* encodeChat(chat: ArchivedChat, messages: Iterable<ArchivedMessage>): Generator<string> {
  yield `${JSON.stringify(chat)}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
}

/** The hash of a line in the manifest: SHA-256 of its bytes without the line feed, in lower-case hex. */
export const lineHash = (line: string): string => hash('sha256', line)

export type Decoded<Value> =
  | { readonly kind: 'sound'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

export const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })

/**
 * Reads an object's text one message at a time, so that a chat takes no more memory than its text. Never throws: the
 * result is a chat, or a sentence that says what is wrong.
 * @param onMessage gets each message and its line without the line feed
 * @returns the chat of the first line
 */
export function readChat(
  text: string,
  onMessage: (message: ArchivedMessage, line: string) => void,
): Decoded<ArchivedChat> {
  if (!text.endsWith('\n')) return CUT_OFF
  const lines = new ChatLines()
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    const line = text.slice(start, end)
    const message = lines.take(line)
    if (message.kind === 'damaged') return message
    if (message.value !== null) onMessage(message.value, line)
    start = end + 1
  }
  return lines.end()
}

/** Reads an object line by line. */
export class ChatLines {
  #chat: ArchivedChat | null = null
  #count = 0
  readonly #ids = new Set<string>()

  /** @param line without its line feed  @returns the message of the line; null for the first line, which is the chat */
  take(line: string): Decoded<ArchivedMessage | null> {
    if (this.#chat === null) {
      const chat = decodeLine(archivedChat, line, 1)
      if (chat.kind === 'damaged') return chat
      this.#chat = chat.value
      return { kind: 'sound', value: null }
    }
    this.#count += 1
    const message = decodeLine(archivedMessage, line, this.#count + 1)
    if (message.kind === 'damaged') return message
    if (this.#ids.has(message.value.id)) return damaged('two of its messages have one id')
    this.#ids.add(message.value.id)
    return message
  }

  /** To be called after the last line. */
  end(): Decoded<ArchivedChat> {
    if (this.#chat === null) return damaged('it is empty')
    const { messageCount } = this.#chat
    if (this.#count === messageCount) return { kind: 'sound', value: this.#chat }
    return damaged(`it contains ${this.#count} messages, not ${messageCount}`)
  }
}

/** The value is returned as it was parsed, so that it is written as the same line again. */
function decodeLine<Schema extends z.ZodMiniType>(
  schema: Schema,
  line: string,
  number: number,
): Decoded<z.infer<Schema>> {
  if (isTooDeep(line)) return damaged(`line ${number} is nested too deep`)
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

export const CUT_OFF = damaged('its last line is cut off')

/**
 * How deep a line may be nested. The mirror's limit is lower. `JSON.parse` reads any depth, but code that walks a deeper
 * value would overflow the stack.
 */
const DEPTH_MAX = 600

/** Whether a JSON text is nested deeper than anything that is archived. Looks only at the text, before it is parsed. */
export function isTooDeep(json: string): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfString(json, at)
    else if (code === BRACE || code === BRACKET) {
      depth += 1
      if (depth > DEPTH_MAX) return true
    } else if (code === END_BRACE || code === END_BRACKET) depth -= 1
  }
  return false
}

const [QUOTE, BRACE, BRACKET, END_BRACE, END_BRACKET, BACKSLASH] = [0x22, 0x7b, 0x5b, 0x7d, 0x5d, 0x5c]

/** The end of the string that starts here; the end of the text if the string is not closed. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return json.length
}

/** What is wrong and where, as text. */
export function issueText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'not what it should be'
  const what = issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is extra` : issue.message
  return issue.path.length === 0 ? what : `${issue.path.join('.')}: ${what}`
}
