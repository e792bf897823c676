import * as z from 'zod/mini'
import { chatFormats } from '../model/chat.ts'
import { COUNT_MAX } from '../model/count.ts'
import type { Json } from '../model/json.ts'
import { roles } from '../model/message.ts'
import { toolStatuses } from '../model/part.ts'

/**
 * What an object holds: the chat on the first line, then its messages, a line each. Times are ISO 8601 in UTC, for
 * whoever reads this without the program; null is unknown. `docs/archive-format.md` says the same to people.
 */
export const FORMAT = 'cursordex-chat'
export const FORMAT_VERSION = 1

/** No row of Cursor's that is read is longer; nothing that claims to be is taken in. */
const TEXT_MAX = 256 * 1024 * 1024
/** More than the longest line holds: what Cursor lists in one row is never too much. */
const LIST_MAX = 50_000_000

/** Ids, names and paths are whatever a store gave: what stands in the mirror can be archived. */
const text = z.string().check(z.maxLength(TEXT_MAX))
const maybe = z.nullable(text)
const time = z.nullable(z.string().check(z.refine(isTime, { error: 'not a time as it is written here' })))
const count = z.int().check(z.nonnegative(), z.maximum(COUNT_MAX))
const number = z.nullable(z.number())
const amount = z.int().check(z.minimum(-COUNT_MAX), z.maximum(COUNT_MAX))
const whole = z.nullable(amount)
/** The mirror could not give back another one as it was given. */
const id = text.check(z.refine((given) => given.isWellFormed(), { error: 'half a character' }))
const maybeId = z.nullable(id)
const list = <Item extends z.ZodMiniType>(item: Item) => z.array(item).check(z.maxLength(LIST_MAX))
/** Whatever stood in a line of JSON is JSON: it is not looked into, and no key of it is lost. */
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
  /** In which mirror it was first archived: it stays what it was when the chat is restored elsewhere. */
  origin: text,
  /** The kind of store that told the chat. */
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
  /** Bytes of the chat's own row. */
  octets: count,
  /** Why it belongs to a project, the best reason first. */
  evidence: list(z.strictObject({ method: text, rank: z.int(), root })),
  /** Files that it is about, as URIs. */
  paths: list(text),
  /** When Cursor recorded code of it, an item for each hour; left out where it recorded none. */
  tracked: z.optional(
    list(z.strictObject({ firstAt: time, lastAt: time, models: list(z.strictObject({ name: text, lastAt: time })) })),
  ),
  /** Cursor's own order; null where it gave none. */
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
  /** Index in the chat's order; null for one that the chat no longer named. */
  position: z.nullable(count),
  role: z.enum(roles),
  sentAt: time,
  startedAt: time,
  /** Out of the timings of its request. */
  timingAt: time,
  model: maybe,
  /** As Cursor recorded them. */
  tokens: z.nullable(z.strictObject({ input: amount, output: amount })),
  isSimulated: z.boolean(),
  isOrphan: z.boolean(),
  deletedAt: time,
  /** The kind of store that told it. */
  source: text,
  /** Bytes of its row. */
  octets: count,
  parts: list(part),
})

export type ArchivedChat = z.infer<typeof archivedChat>
export type ArchivedMessage = z.infer<typeof archivedMessage>

/** Where a message of an archived chat stands; null for one that the chat no longer named. */
export interface ArchivedPlace {
  readonly id: string
  readonly position: number | null
}

/** A chat out of an archive, every byte of which was compared with what the archive says of it. */
export interface ProvenChat {
  readonly kind: 'sound'
  readonly chat: ArchivedChat
  /** Of all its messages, in their order. */
  readonly places: readonly ArchivedPlace[]
  /** Unpacks them once more, one at a time. */
  messages(): AsyncIterable<ArchivedMessage>
}

/** One that is not taken. */
export interface DamagedChat {
  readonly kind: 'damaged'
  /** Null where nothing tells whose it was. */
  readonly id: string | null
  readonly why: string
}
