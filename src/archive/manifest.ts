import { hash } from 'node:crypto'
import * as z from 'zod/mini'
import { damaged, issueText, type Decoded } from './chat-file.ts'
import { isObjectHash, isRunName } from './names.ts'

export const MANIFEST_FORMAT = 'cursordex-archive'
export const MANIFEST_VERSION = 1

const sha256 = z.string().check(z.refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' }))
/** One check for the whole list: there is a hash for each message, and a schema for each takes five times as long. */
const hashes = z.custom<string[]>(isHashList, { error: 'not a list of SHA-256 in lower-case hex' })
const count = z.int().check(z.nonnegative())
const word = z.string().check(z.minLength(1), z.maxLength(4096))
const time = z.iso.datetime({ precision: 3 })

const chatEntry = z.strictObject({
  /** As in its store. */
  id: z.string(),
  /** SHA-256 of the object's bytes, which is its name. */
  object: sha256,
  /** SHA-256 of its unpacked text. */
  content: sha256,
  bytes: count,
  /** The chat's revision in the mirror. A chat with the same revision is not read again. See `rewrittenRevision` for a purge. */
  revision: count,
  /** SHA-256 of each message's line, in order. */
  messages: hashes,
})

function isHashList(given: unknown): boolean {
  if (!Array.isArray(given) || given.length > 10_000_000) return false
  return given.every((item) => typeof item === 'string' && isObjectHash(item))
}

const leftOutChat = z.strictObject({
  id: z.string(),
  /** Why it was left out. */
  why: z.string(),
})

const headMembers = {
  format: z.literal(MANIFEST_FORMAT),
  version: z.literal(MANIFEST_VERSION),
  name: z.string().check(z.refine(isRunName, { error: 'not the name of a run' })),
  createdAt: time,
  /** When all objects of the run had been read back, before the manifest was written. */
  provenAt: time,
  job: z.nullable(word),
  scope: z.json(),
  program: z.strictObject({ name: word, version: word, schema: count }),
  /** The identity of the mirror. */
  origin: word,
  /** All objects, also those of subagents, drafts and chats without messages. */
  chatCount: count,
  /** How many of these are no chats of lists. Missing in runs that were made before they were counted. */
  unlistedCount: z.optional(count),
  messageCount: count,
  /** Sum of all objects, each counted once. */
  bytes: count,
  /** Chats that could not be archived; `chats` may contain an older state of them. Missing if there are none. */
  leftOut: z.optional(z.array(leftOutChat).check(z.minLength(1), z.maxLength(10_000_000))),
}

const headAlone = z.strictObject(headMembers)
const manifest = z.strictObject({ ...headMembers, chats: z.array(chatEntry).check(z.maxLength(10_000_000)) })
const written = z.strictObject({ ...manifest.shape, sha256 })

export type ManifestHead = z.infer<typeof headAlone>
export type Manifest = z.infer<typeof manifest>
export type LeftOutChat = z.infer<typeof leftOutChat>
export type ChatEntry = z.infer<typeof chatEntry>

/** A manifest as a file: JSON with one line for each chat. The last member is the SHA-256 of all bytes before its line. */
export function encodeManifest({ chats, ...head }: Manifest): string {
  const members = Object.entries(head).filter(([, value]) => value !== undefined)
  const lines = members.map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  const entries = chats.map((entry) => JSON.stringify(entry)).join(',\n')
  const text = `{\n${lines.join('')}"chats": [\n${entries}\n],\n`
  return `${text}"sha256": "${hash('sha256', text)}"\n}\n`
}

/** @param name the name of the file, without its extension */
export function decodeManifest(text: string, name: string): Decoded<Manifest> {
  const at = text.lastIndexOf('"sha256": "')
  const right = at < 0 ? null : `"sha256": "${hash('sha256', text.slice(0, at))}"\n}\n`
  if (right === null || text.slice(at) !== right) return damaged('its checksum does not match its content')
  const read = parse(written, text)
  if (read.kind === 'damaged') return read
  const { sha256: _, ...value } = read.value
  if (value.name !== name) return damaged(`it names itself ${value.name}`)
  const messages = value.chats.reduce((sum, entry) => sum + entry.messages.length, 0)
  if (value.chats.length !== value.chatCount || messages !== value.messageCount) {
    return damaged('its counts do not match its chats')
  }
  if (new Set(value.chats.map(({ id }) => id)).size < value.chats.length) return damaged('it names a chat twice')
  return { kind: 'sound', value }
}

/** Unique, because JSON values contain no line feeds. */
const HEAD_END = ',\n"chats": [\n'

/** The members of a manifest before its chats, which its checksum is not compared with: for lists. Null if it has none. */
export function decodeHead(start: string, name: string): ManifestHead | null {
  const at = start.indexOf(HEAD_END)
  const read = at < 0 ? null : parse(headAlone, `${start.slice(0, at)}}`)
  return read?.kind === 'sound' && read.value.name === name ? read.value : null
}

/** The checksum in a manifest's last bytes. Null if there is none. */
export const checksumIn = (end: string): string | null => /"sha256": "([0-9a-f]{64})"\n\}\n$/.exec(end)?.[1] ?? null

function parse<Schema extends z.ZodMiniType>(schema: Schema, text: string): Decoded<z.infer<Schema>> {
  try {
    const read = schema.safeParse(JSON.parse(text))
    return read.success ? { kind: 'sound', value: read.data } : damaged(issueText(read.error))
  } catch (error) {
    // A file with a right checksum can still contain anything.
    return damaged(error instanceof RangeError ? 'it is nested too deep' : 'it is not JSON')
  }
}

/** Larger than any revision: no chat is written that often. */
const REWRITTEN = 2 ** 52

/**
 * The revision in a manifest after a purge rewrote the object. No mirror has it, so the next run archives the chat again.
 * It still shows which of two states is newer.
 */
export const rewrittenRevision = (revision: number): number => (revision % REWRITTEN) + REWRITTEN

/** Compares two archived revisions of one chat from one mirror, rewritten or not. */
export const isNewer = (one: number, other: number): boolean => one % REWRITTEN > other % REWRITTEN
