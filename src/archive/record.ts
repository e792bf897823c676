import * as z from 'zod/mini'
import { chatFormats } from '../model/chat.ts'
import { type Json, COUNT_MAX } from '../model/json.ts'
import { roles } from '../model/message.ts'
import { toolStatuses } from '../model/part.ts'

/**
 * The content of an object: the chat on the first line, then one line for each message. Times are ISO 8601 in UTC, so
 * that they are readable without this program. Null is unknown. See also `docs/archive-format.md`.
 */
export const FORMAT = 'cursordex-chat'
export const FORMAT_VERSION = 1

/** Longer rows of Cursor are not read, so longer texts are refused. */
const TEXT_MAX = 256 * 1024 * 1024
/** More items than fit into the longest line, so that no list of Cursor is too long. */
const LIST_MAX = 50_000_000

/** Ids, names and paths have no other limits: whatever is in the mirror can be archived. */
const text = z.string().check(z.maxLength(TEXT_MAX))
const maybe = z.nullable(text)
const time = z.nullable(z.string().check(z.refine(isTime, { error: 'not a time as it is written here' })))
const count = z.int().check(z.nonnegative(), z.maximum(COUNT_MAX))
const number = z.nullable(z.number())
const amount = z.int().check(z.minimum(-COUNT_MAX), z.maximum(COUNT_MAX))
const whole = z.nullable(amount)
/** The mirror cannot store a lone surrogate unchanged. */
const id = text.check(z.refine((given) => given.isWellFormed(), { error: 'half a character' }))
const maybeId = z.nullable(id)
const list = <Item extends z.ZodMiniType>(item: Item) => z.array(item).check(z.maxLength(LIST_MAX))
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

export const archivedChat = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  id,
  title: text,
  /** The mirror that archived the chat first. It stays when the chat is restored elsewhere. */
  origin: text,
  /** The kind of store of the chat. */
  source: text,
  storeFormat: z.enum(chatFormats),
  name: maybe,
  summary: maybe,
  todos: list(todo),
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
  childChatIds: list(id),
  linesAdded: whole,
  linesRemoved: whole,
  filesChanged: whole,
  contextTokens: z.nullable(z.strictObject({ used: number, limit: number })),
  recordedCostCents: number,
  /** Size of the chat's own row in bytes. */
  octets: count,
  /** Why it belongs to a project, the best reason first. */
  evidence: list(z.strictObject({ method: text, rank: z.int(), root })),
  /** Files that the chat is about, as URIs. */
  paths: list(text),
  /** When Cursor recorded code of the chat, one item for each hour. Missing if it recorded none. */
  tracked: z.optional(
    list(z.strictObject({ firstAt: time, lastAt: time, models: list(z.strictObject({ name: text, lastAt: time })) })),
  ),
  /** Cursor's own order. Null if Cursor gave none. */
  outline: z.nullable(list(outlineEntry)),
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
    paths: list(text),
  }),
  z.strictObject({
    kind: z.literal('attachment'),
    path: text,
    text: maybe,
    hash: z.optional(text),
    cappedFrom: z.optional(count),
  }),
  z.strictObject({ kind: z.literal('todo'), items: list(todo) }),
  z.strictObject({ kind: z.literal('error'), text }),
])

export const archivedMessage = z.strictObject({
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
  parts: list(part),
})

export type ArchivedChat = z.infer<typeof archivedChat>
export type ArchivedMessage = z.infer<typeof archivedMessage>

/** The place of an archived message. Null for a message that the chat no longer names. */
export interface ArchivedPlace {
  readonly id: string
  readonly position: number | null
}

/** An archived chat whose every byte was checked. */
export interface ProvenChat {
  readonly kind: 'sound'
  readonly chat: ArchivedChat
  /** All messages, in order. */
  readonly places: readonly ArchivedPlace[]
  /** Unpacks the messages again, one at a time. */
  messages(): AsyncIterable<ArchivedMessage>
}

/** An archived chat that cannot be restored. */
export interface DamagedChat {
  readonly kind: 'damaged'
  /** Null if the id is unknown. */
  readonly id: string | null
  readonly why: string
}
