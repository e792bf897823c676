import { z } from 'zod'
import { chatFormats } from '../model/chat.ts'
import { toolStatuses } from '../model/part.ts'
import { roles } from '../model/message.ts'

/**
 * What an object holds: the chat on the first line, then its messages, a line each. Times are ISO 8601 in UTC, for
 * whoever reads this without the program; null is unknown. `docs/archive-format.md` says the same to people.
 */
export const FORMAT = 'cursordex-chat'
export const FORMAT_VERSION = 1

/** No row of Cursor's that is read is longer; nothing that claims to be is taken in. */
const TEXT_MAX = 256 * 1024 * 1024
const ID_MAX = 4096
const LIST_MAX = 1_000_000

const text = z.string().max(TEXT_MAX)
const id = z.string().min(1).max(ID_MAX)
const name = z.string().max(ID_MAX)
const time = z.iso.datetime({ precision: 3 }).nullable()
const count = z.number().int().nonnegative()
const optionalCount = count.nullable()
const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(LIST_MAX)

const root = z.strictObject({
  uri: name.min(1),
  path: name,
  name,
  remote: z.strictObject({ kind: name, host: name }).nullable(),
})

const outlineEntry = z.strictObject({
  id: id.nullable(),
  role: z.enum(roles).nullable(),
  createdAt: time,
  startedAt: time,
})

export const archivedChat = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  id,
  title: text,
  /** In which mirror it was first archived: it stays what it was when the chat is restored elsewhere. */
  origin: id,
  /** The kind of store that told the chat. */
  source: name,
  storeFormat: z.enum(chatFormats),
  name: text.nullable(),
  summary: text.nullable(),
  todos: list(z.strictObject({ id: name.nullable(), content: text, status: name.nullable() })),
  createdAt: time,
  updatedAt: time,
  mode: name.nullable(),
  branch: name.nullable(),
  model: name.nullable(),
  status: name.nullable(),
  isArchived: z.boolean(),
  isDraft: z.boolean(),
  isSubagent: z.boolean(),
  deletedAt: time,
  parentChatId: id.nullable(),
  childChatIds: list(id),
  linesAdded: z.number().nullable(),
  linesRemoved: z.number().nullable(),
  filesChanged: z.number().nullable(),
  contextTokens: z.strictObject({ used: z.number().nullable(), limit: z.number().nullable() }).nullable(),
  recordedCostCents: z.number().nullable(),
  /** Bytes of the chat's own row. */
  octets: count,
  /** Why it belongs to a project, the best reason first. */
  evidence: list(z.strictObject({ method: name.min(1), rank: z.number().int(), root })),
  /** Files that it is about, as URIs. */
  paths: list(name),
  /** Cursor's own order; null where it gave none. */
  outline: list(outlineEntry).nullable(),
  messageCount: count,
})

const part = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text }),
  z.strictObject({ kind: z.literal('thinking'), text, durationMs: z.number().nullable() }),
  z.strictObject({ kind: z.literal('code'), language: name.nullable(), path: name.nullable(), text }),
  z.strictObject({
    kind: z.literal('tool'),
    name,
    status: z.enum(toolStatuses),
    callId: name.nullable(),
    input: z.json(),
    output: z.json(),
    outputFrom: z.literal('blob').optional(),
    error: text.nullable(),
    paths: list(name),
  }),
  z.strictObject({
    kind: z.literal('attachment'),
    path: name,
    text: text.nullable(),
    hash: name.optional(),
    cappedFrom: count.optional(),
  }),
  z.strictObject({
    kind: z.literal('todo'),
    items: list(z.strictObject({ id: name.nullable(), content: text, status: name.nullable() })),
  }),
  z.strictObject({ kind: z.literal('error'), text }),
])

export const archivedMessage = z.strictObject({
  id,
  /** Another id by which the chat's order may name it. */
  alias: id.nullable(),
  /** Index in the chat's order; null for one that the chat no longer named. */
  position: optionalCount,
  role: z.enum(roles),
  sentAt: time,
  startedAt: time,
  /** Out of the timings of its request. */
  timingAt: time,
  model: name.nullable(),
  /** As Cursor recorded them. */
  tokens: z.strictObject({ input: z.number(), output: z.number() }).nullable(),
  isSimulated: z.boolean(),
  isOrphan: z.boolean(),
  deletedAt: time,
  /** The kind of store that told it. */
  source: name,
  /** Bytes of its row. */
  octets: count,
  parts: list(part),
})

export type ArchivedChat = z.infer<typeof archivedChat>
export type ArchivedMessage = z.infer<typeof archivedMessage>
