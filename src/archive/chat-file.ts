import { hash } from 'node:crypto'
import type * as z from 'zod/mini'
import { archivedChat, archivedMessage, type ArchivedChat, type ArchivedMessage } from './record.ts'

export type Decoded<Value> =
  | { readonly kind: 'sound'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

export const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })

/** Says what is wrong with something in an archive. */
export class Damage extends Error {}

/** The hash of a line in the manifest: SHA-256 of its bytes without the line feed, in lower-case hex. */
export const lineHash = (line: string): string => hash('sha256', line)

/** Reads an object line by line. */
export class ChatLines {
  #chat: ArchivedChat | null = null
  #count = 0
  readonly #ids = new Set<string>()

  /**
   * @param line without its line feed
   * @returns the message of the line; null for the first line, which is the chat
   * @throws Damage
   */
  take(line: string): ArchivedMessage | null {
    if (this.#chat === null) {
      this.#chat = decodeLine(archivedChat, line, 1)
      return null
    }
    this.#count += 1
    const message = decodeLine(archivedMessage, line, this.#count + 1)
    if (this.#ids.has(message.id)) throw new Damage('two of its messages have one id')
    this.#ids.add(message.id)
    return message
  }

  /** To be called after the last line. @returns the chat of the first line  @throws Damage */
  end(): ArchivedChat {
    if (this.#chat === null) throw new Damage('it is empty')
    const { messageCount } = this.#chat
    if (this.#count !== messageCount) throw new Damage(`it contains ${this.#count} messages, not ${messageCount}`)
    return this.#chat
  }
}

/** The value is returned as it was parsed, so that it is written as the same line again. */
function decodeLine<Schema extends z.ZodMiniType>(schema: Schema, line: string, number: number): z.infer<Schema> {
  let given: unknown
  try {
    given = JSON.parse(line)
  } catch {
    throw new Damage(`line ${number} is not JSON`)
  }
  if (isTooDeep(given)) throw new Damage(`line ${number} is nested too deep`)
  const read = schema.safeParse(given)
  if (read.success) return given as z.infer<Schema>
  throw new Damage(`line ${number}, ${issueText(read.error)}`)
}

/** How deep a line may be nested. The mirror's limit is lower. Code that walks a deeper value would overflow the stack. */
const DEPTH_MAX = 600

function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return true
    level = level.flatMap((each): unknown[] => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** What is wrong and where, as text. */
export function issueText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'not what it should be'
  const what = issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is extra` : issue.message
  return issue.path.length === 0 ? what : `${issue.path.join('.')}: ${what}`
}
