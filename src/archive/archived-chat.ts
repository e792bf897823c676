import * as z from 'zod/mini'
import { chatFormats } from '../model/chat.ts'
import { type Json, COUNT_MAX, countValues } from '../model/json.ts'
import { roles } from '../model/message.ts'
import { toolStatuses } from '../model/part.ts'
import { Damage, issueText } from './manifest.ts'

/**
 * The content of an object: the chat on the first line, then one line for each message. Times are ISO 8601 in UTC, so
 * that they are readable without this program. Null is unknown. See also `docs/archive-format.md`.
 */
export const FORMAT = 'cursordex-chat'
export const FORMAT_VERSION = 1

/** Ids, names and paths have no limits: whatever is in the mirror can be archived. */
const text = z.string()
const maybe = z.nullable(text)
const time = z.nullable(z.string().check(z.refine(isTime, { error: 'not a time as it is written here' })))
const count = z.int().check(z.nonnegative(), z.maximum(COUNT_MAX))
const number = z.nullable(z.number())
const amount = z.int().check(z.minimum(-COUNT_MAX), z.maximum(COUNT_MAX))
const whole = z.nullable(amount)
/** The mirror cannot store a lone surrogate unchanged. */
const id = z.string().check(z.refine((given) => given.isWellFormed(), { error: 'half a character' }))
const maybeId = z.nullable(id)
/** It names a source; other text could imitate another source. */
const origin = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'not the identity of a mirror'))
/** It comes from a JSON line, so it is JSON. It is not checked, and no key is lost. */
const json = z.custom<Json>((given) => given !== undefined, { error: 'missing' })

function isTime(given: string): boolean {
  const ms = Date.parse(given)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === given
}

const root = z.strictObject({
  uri: text,
  path: text,
  name: text,
  remote: z.nullable(z.strictObject({ kind: text, host: text })),
})

const outlineEntry = z.strictObject({
  id: maybeId,
  role: z.nullable(z.enum(roles)),
  createdAt: time,
  startedAt: time,
})

const todo = z.strictObject({ id: maybe, content: text, status: maybe })

const archivedChat = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  id,
  title: text,
  /** The mirror that archived the chat first. It stays when the chat is restored elsewhere. */
  origin,
  /** The kind of store of the chat. */
  source: text,
  storeFormat: z.enum(chatFormats),
  name: maybe,
  summary: maybe,
  todos: z.array(todo),
  createdAt: time,
  updatedAt: time,
  mode: maybe,
  branch: maybe,
  model: maybe,
  status: maybe,
  isArchived: z.boolean(),
  isDraft: z.boolean(),
  isSubagent: z.boolean(),
  deletedAt: time,
  parentChatId: maybeId,
  childChatIds: z.array(id),
  linesAdded: whole,
  linesRemoved: whole,
  filesChanged: whole,
  contextTokens: z.nullable(z.strictObject({ used: number, limit: number })),
  recordedCostCents: number,
  /** Size of the chat's own row in bytes. */
  octets: count,
  /** Why it belongs to a project, the best reason first. */
  evidence: z.array(z.strictObject({ method: text, rank: z.int(), root })),
  /** Files that the chat is about, as URIs. */
  paths: z.array(text),
  /** When Cursor recorded code of the chat, one item for each hour. Missing if it recorded none. */
  tracked: z.optional(
    z.array(
      z.strictObject({ firstAt: time, lastAt: time, models: z.array(z.strictObject({ name: text, lastAt: time })) }),
    ),
  ),
  /** Cursor's own order. Null if Cursor gave none. */
  outline: z.nullable(z.array(outlineEntry)),
  messageCount: count,
})

const part = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text }),
  z.strictObject({ kind: z.literal('thinking'), text, durationMs: number }),
  z.strictObject({ kind: z.literal('code'), language: maybe, path: maybe, text }),
  z.strictObject({
    kind: z.literal('tool'),
    name: text,
    status: z.enum(toolStatuses),
    callId: maybe,
    input: json,
    output: json,
    outputFrom: z.optional(z.literal('blob')),
    error: maybe,
    paths: z.array(text),
  }),
  z.strictObject({
    kind: z.literal('attachment'),
    path: text,
    text: maybe,
    hash: z.optional(text),
    cappedFrom: z.optional(count),
  }),
  z.strictObject({ kind: z.literal('todo'), items: z.array(todo) }),
  z.strictObject({ kind: z.literal('error'), text }),
  z.strictObject({ kind: z.literal('plan'), title: maybe, path: maybe, text }),
  z.strictObject({ kind: z.literal('summary'), text }),
])

const archivedMessage = z.strictObject({
  id,
  /** Another id by which the chat's order may name it. */
  alias: maybeId,
  /** Index in the chat's order. Null for a message that the chat no longer names. */
  position: z.nullable(count),
  role: z.enum(roles),
  sentAt: time,
  startedAt: time,
  /** From the timings of its request. */
  timingAt: time,
  model: maybe,
  /** As Cursor recorded them. */
  tokens: z.nullable(z.strictObject({ input: amount, output: amount })),
  /** Cursor's id of the request, if tokens are recorded. */
  requestId: z.optional(id),
  isSimulated: z.boolean(),
  isOrphan: z.boolean(),
  deletedAt: time,
  /** The kind of store of the message. */
  source: text,
  /** Size of its row in bytes. */
  octets: count,
  parts: z.array(part),
})

export type ArchivedChat = z.infer<typeof archivedChat>
export type ArchivedMessage = z.infer<typeof archivedMessage>

/** An archived chat with its messages, or with what was made of each. */
export interface ArchivedObject<Message = ArchivedMessage> {
  readonly chat: ArchivedChat
  /** The messages of the thread in order, then the others. */
  readonly messages: readonly Message[]
}

/** What an object may hold. Parsed, a value of JSON takes up to 300 bytes, however short its text is. */
export interface ObjectLimits {
  /** Size of its whole text, in bytes. */
  readonly bytesMax: number
  /** What all lines take in memory, in bytes: two a character if not all of a line is ASCII. By default any amount. */
  readonly memoryMax?: number
  /** The same for each line. */
  readonly lineMax?: number
  /** Values in all lines together. By default any number. */
  readonly valuesMax?: number
}

/** Reads an object line by line, so that a long text is not in memory as a whole. */
export class ObjectReader<Message extends { readonly id: string }> {
  readonly #limits: Omit<ObjectLimits, 'bytesMax'>
  readonly #take: (message: ArchivedMessage) => Message
  readonly #messages: Message[] = []
  #chat: ArchivedChat | null = null
  #memory = 0
  #values = 0

  /** @param take what is kept of each message */
  constructor(limits: Omit<ObjectLimits, 'bytesMax'>, take: (message: ArchivedMessage) => Message) {
    this.#limits = limits
    this.#take = take
  }

  /** @param line the next one  @throws Damage */
  add(line: string): void {
    const { memoryMax = Infinity, lineMax = Infinity, valuesMax = Infinity } = this.#limits
    const place = this.#chat === null ? 1 : this.#messages.length + 2
    const size = Buffer.byteLength(line) === line.length ? line.length : 2 * line.length
    this.#memory += size
    if (size > lineMax) throw new Damage(`line ${place} takes more than ${lineMax / 1024 ** 2} MB of memory`)
    if (this.#memory > memoryMax) throw new Damage(`it takes more than ${memoryMax / 1024 ** 2} MB of memory`)
    if (valuesMax !== Infinity) this.#values += countValues(line).values
    if (this.#values > valuesMax) throw new Damage(`it has more than ${valuesMax} values`)
    if (this.#chat === null) this.#chat = decodeLine(archivedChat, line, place)
    else this.#messages.push(this.#take(decodeLine(archivedMessage, line, place)))
  }

  /** After the last line. @throws Damage */
  end(): ArchivedObject<Message> {
    const [chat, messages] = [this.#chat, this.#messages]
    if (chat === null) throw new Damage('it is empty')
    if (messages.length !== chat.messageCount) {
      throw new Damage(`it contains ${messages.length} messages, not ${chat.messageCount}`)
    }
    if (new Set(messages.map((message) => message.id)).size < messages.length) {
      throw new Damage('two of its messages have one id')
    }
    return { chat, messages }
  }
}

/** @param lines of a whole object  @throws Damage */
export function decodeObject<Message extends { readonly id: string }>(
  lines: Iterable<string>,
  limits: Omit<ObjectLimits, 'bytesMax'>,
  take: (message: ArchivedMessage) => Message,
): ArchivedObject<Message> {
  const reader = new ObjectReader(limits, take)
  for (const line of lines) reader.add(line)
  return reader.end()
}

/** The value is returned as it was parsed, so that it is written as the same line again. */
function decodeLine<Schema extends z.ZodMiniType>(schema: Schema, line: string, place: number): z.infer<Schema> {
  let given: unknown
  try {
    given = JSON.parse(line)
  } catch {
    throw new Damage(`line ${place} is not JSON`)
  }
  if (isTooDeep(given)) throw new Damage(`line ${place} is nested too deep`)
  const read = schema.safeParse(given)
  if (read.success) return given as z.infer<Schema>
  throw new Damage(`line ${place}, ${issueText(read.error)}`)
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
