import { hash } from 'node:crypto'
import * as z from 'zod/mini'

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

const FORMAT = 'cursordex-archive'
/** Version 1 has a list of hashes, one for each message, in place of the number of messages. It is still read. */
const VERSION = 2

const sha256 = z.string().check(z.refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' }))
const count = z.int().check(z.nonnegative())
const word = z.string().check(z.minLength(1))
const time = z.iso.datetime({ precision: 3 })

const chatEntry = z.object({
  /** As in its store. */
  id: z.string(),
  /** SHA-256 of the object's bytes, which is its name. */
  object: sha256,
  /** The size of the object. */
  bytes: count,
  /** The chat's revision in the mirror. A chat with the same revision is not read again. 0 after a purge changed the object. */
  revision: count,
  /** How many messages the object contains. */
  messages: z.pipe(
    z.union([count, z.array(z.unknown())]),
    z.transform((given) => (typeof given === 'number' ? given : given.length)),
  ),
  /** False for subagents, drafts and chats without messages. Version 1 does not say it. */
  isListed: z._default(z.boolean(), true),
})

const manifest = z.object({
  name: z.string().check(z.refine(isRunName, { error: 'not the name of a run' })),
  createdAt: time,
  /** When all objects of the run had been read back, before the manifest was written. */
  provenAt: time,
  job: z.nullable(word),
  scope: z.json(),
  program: z.object({ name: word, version: word, schema: count }),
  /** The identity of the mirror. */
  origin: word,
  /** Chats that could not be archived; `chats` may contain an older state of them. Missing if there are none. */
  leftOut: z.optional(z.array(z.object({ id: z.string(), why: z.string() }))),
  chats: z.array(chatEntry),
})
const file = z.extend(manifest, {
  format: z.literal(FORMAT),
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
  const members = Object.entries({ format: FORMAT, version: VERSION, ...head, ...sumsOf(chats) })
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
