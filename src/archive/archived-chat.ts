import * as z from 'zod/mini'
import { chatFormats } from '../model/chat.ts'
import { type Json, COUNT_MAX, countValues } from '../model/json.ts'
import { roles } from '../model/message.ts'
import { toolStatuses } from '../model/part.ts'
import { hash } from 'node:crypto'

/** The name of an object is the SHA-256 of its file, so that `sha256sum` can check it. */
export const isObjectHash = (given: string): boolean => /^[0-9a-f]{64}$/.test(given)

/** The path of an object below the archive folder: `objects/ab/abcd….jsonl.gz`. */
export const objectPath = (object: string): string => `objects/${object.slice(0, 2)}/${object}.jsonl.gz`

/** `20261121T030000Z-weekly`, with `-2` added for a second run in the same second. Names are used in paths. */
export const isRunName = (given: string): boolean => /^\d{8}T\d{6}Z-[A-Za-z0-9_-]{1,80}$/.test(given)

export const runPath = (name: string): string => `runs/${name}.json`

/** The name of a run that begins now. @param atMs epoch milliseconds  @param job null for a person  @param taken names in use */
export function runName(atMs: number, job: string | null, taken: readonly string[]): string {
  const stamp = new Date(atMs).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '')
  const first = `${stamp}-${job ?? 'manual'}`
  let name = first
  for (let number = 2; taken.includes(name); number += 1) name = `${first}-${number}`
  return name
}

/** When a run of this name was started. ISO 8601, to the second. */
export const timeOfRun = (name: string): string =>
  name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6.000Z')

const MANIFEST_FORMAT = 'cursordex-archive'
/** Version 1 has a list of hashes, one for each message, in place of the number of messages. It is still read. */
const VERSION = 2

const sha256 = z.string().check(z.refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' }))
const natural = z.int().check(z.nonnegative())
const word = z.string().check(z.minLength(1))
const isoTime = z.string().check(z.refine(isTime, { error: 'not a time as it is written here' }))

function isTime(given: string): boolean {
  const ms = Date.parse(given)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === given
}

const chatEntry = z.object({
  /** As in its store. */
  id: z.string(),
  /** SHA-256 of the object's bytes, which is its name. */
  object: sha256,
  /** The size of the object. */
  bytes: natural,
  /** The chat's revision in the mirror. A chat with the same revision is not read again. 0 after a purge changed the object. */
  revision: natural,
  /** How many messages the object contains. */
  messages: z.pipe(
    z.union([natural, z.array(z.unknown())]),
    z.transform((given) => (typeof given === 'number' ? given : given.length)),
  ),
  /** False for subagents, drafts and chats without messages. Version 1 does not say it. */
  isListed: z._default(z.boolean(), true),
})

const manifest = z.object({
  name: z.string().check(z.refine(isRunName, { error: 'not the name of a run' })),
  createdAt: isoTime,
  /** When all objects of the run had been read back, before the manifest was written. */
  provenAt: isoTime,
  job: z.nullable(word),
  scope: z.json(),
  program: z.object({ name: word, version: word, schema: natural }),
  /** The identity of the mirror. */
  origin: word,
  /** Chats that could not be archived; `chats` may contain an older state of them. Missing if there are none. */
  leftOut: z.optional(z.array(z.object({ id: z.string(), why: z.string() }))),
  chats: z.array(chatEntry),
})
const file = z.extend(manifest, {
  format: z.literal(MANIFEST_FORMAT),
  version: z.union([z.literal(1), z.literal(VERSION)]),
  sha256,
})

export type Manifest = z.output<typeof manifest>
export type ChatEntry = z.output<typeof chatEntry>

/** What was read from an archive, or a sentence that says what is wrong with it. */
export type Decoded<Value> =
  | { readonly kind: 'sound'; readonly value: Value }
  | { readonly kind: 'damaged'; readonly why: string }

/** Says what is wrong with something in an archive. */
export class Damage extends Error {}

/** Whatever reading throws is damage: an archive may contain anything, and its disk may fail. */
export function attempt<Value>(read: () => Value): Decoded<Value> {
  try {
    return { kind: 'sound', value: read() }
  } catch (error) {
    return { kind: 'damaged', why: error instanceof Error ? error.message : String(error) }
  }
}

/** What is wrong and where, as text. */
export function issueText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'not what it should be'
  const what = issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is extra` : issue.message
  return issue.path.length === 0 ? what : `${issue.path.join('.')}: ${what}`
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The sums of a manifest over its chats. `listedCount` counts those that lists show. `bytes` counts each object once. */
export const sumsOf = (chats: readonly ChatEntry[]) => ({
  chatCount: chats.length,
  listedCount: chats.filter(({ isListed }) => isListed).length,
  messageCount: sum(chats.map(({ messages }) => messages)),
  bytes: sum([...new Map(chats.map(({ object, bytes }) => [object, bytes])).values()]),
})

/** A manifest as a file: JSON with one line for each chat. The last member is the SHA-256 of all bytes before its line. */
export function encodeManifest({ chats, ...head }: Manifest): string {
  const members = Object.entries({ format: MANIFEST_FORMAT, version: VERSION, ...head, ...sumsOf(chats) })
  const lines = members.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  const entries = chats.map((entry) => JSON.stringify(entry)).join(',\n')
  const text = `{\n${lines.join('')}"chats": [\n${entries}\n],\n`
  return `${text}"sha256": "${hash('sha256', text)}"\n}\n`
}

/** @param name the name of the file, without its extension  @throws Damage; SyntaxError, RangeError of JSON */
export function decodeManifest(text: string, name: string): Manifest & { readonly sha256: string } {
  const at = text.lastIndexOf('"sha256": "')
  const right = at < 0 ? null : `"sha256": "${hash('sha256', text.slice(0, at))}"\n}\n`
  if (right === null || text.slice(at) !== right) throw new Damage('its checksum does not match its content')
  const read = file.safeParse(JSON.parse(text))
  if (!read.success) throw new Damage(issueText(read.error))
  const { format: _, version: __, ...value } = read.data
  if (value.name !== name) throw new Damage(`it names itself ${value.name}`)
  return value
}

/**
 * The content of an object: the chat on the first line, then one line for each message. Times are ISO 8601 in UTC, so
 * that they are readable without this program. Null is unknown. See also `docs/archive-format.md`.
 */
export const FORMAT = 'cursordex-chat'
export const FORMAT_VERSION = 1

/** Ids, names and paths have no limits: whatever is in the mirror can be archived. */
const text = z.string()
const maybe = z.nullable(text)
const time = z.nullable(isoTime)
const count = natural.check(z.maximum(COUNT_MAX))
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
