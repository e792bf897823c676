import { createHash, hash as digest } from 'node:crypto'
import * as z from 'zod/mini'
import { damaged, issueText, isTooDeep, type Decoded } from './chat-file.ts'
import { isObjectHash, isRunName } from './names.ts'

export const MANIFEST_FORMAT = 'cursordex-archive'
export const MANIFEST_VERSION = 1

const hash = z.string().check(z.refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' }))
/** One check for the whole list: there is a hash for each message, and a schema for each takes five times as long. */
const hashes = z.custom<string[]>(isHashList, { error: 'not a list of SHA-256 in lower-case hex' })
const count = z.int().check(z.nonnegative())
const word = z.string().check(z.minLength(1), z.maxLength(4096))
const time = z.iso.datetime({ precision: 3 })

const chatEntry = z.strictObject({
  /** As in its store. */
  id: z.string(),
  /** SHA-256 of the object's bytes, which is its name. */
  object: hash,
  /** SHA-256 of its unpacked text. */
  content: hash,
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
const sealed = z.strictObject({ ...manifest.shape, sha256: hash })

export type ManifestHead = z.infer<typeof headAlone>
export type Manifest = z.infer<typeof manifest>
export type SealedManifest = z.infer<typeof sealed>
export type LeftOutChat = z.infer<typeof leftOutChat>
export type ChatEntry = z.infer<typeof chatEntry>

/** The pieces of a manifest's file are slightly longer than this. */
const PIECE_LENGTH = 1024 * 1024

/**
 * A manifest as a file: JSON with one line for each chat. The last member, on its own line, is the SHA-256 of all bytes
 * before that line. In pieces, because a manifest with half a million messages takes 40 MB, and so does each copy.
 */
export function* sealManifest(given: Manifest): Generator<Buffer> {
  const seal = createHash('sha256')
  for (const text of inPieces(manifestLines(given))) {
    const piece = Buffer.from(text)
    seal.update(piece)
    yield piece
  }
  yield Buffer.from(`"sha256": "${seal.digest('hex')}"\n}\n`)
}

/** Everything before the seal. */
function* manifestLines({ chats, ...head }: Manifest): Generator<string> {
  const members = Object.entries(head).filter(([, value]) => value !== undefined)
  yield '{\n'
  for (const [key, value] of members) yield `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`
  yield '"chats": [\n'
  for (const [index, entry] of chats.entries()) yield `${index === 0 ? '' : ',\n'}${JSON.stringify(entry)}`
  yield '\n],\n'
}

function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece: string[] = []
  let length = 0
  for (const text of texts) {
    piece.push(text)
    length += text.length
    if (length < PIECE_LENGTH) continue
    yield piece.join('')
    piece = []
    length = 0
  }
  yield piece.join('')
}

/** @param name the name of the file, without its extension */
export function openManifest(text: string, name: string): Decoded<SealedManifest> {
  const at = text.lastIndexOf('"sha256": "')
  const seal = at < 0 ? '' : sha256(text.slice(0, at))
  if (at < 0 || text.slice(at) !== `"sha256": "${seal}"\n}\n`) return damaged('its seal does not match its content')
  if (isTooDeep(text)) return damaged('it is nested too deep')
  const read = sealed.safeParse(parseJson(text))
  if (!read.success) return damaged(issueText(read.error))
  if (read.data.name !== name) return damaged(`it names itself ${read.data.name}`)
  const { chats, chatCount, messageCount } = read.data
  const messages = chats.reduce((sum, entry) => sum + entry.messages.length, 0)
  if (chats.length !== chatCount || messages !== messageCount) return damaged('its counts do not match its chats')
  if (new Set(chats.map(({ id }) => id)).size < chats.length) return damaged('it names a chat twice')
  return { kind: 'sound', value: read.data }
}

/** Unique, because JSON values contain no line feeds. */
const HEAD_END = ',\n"chats": [\n'

/** Whether the start of a manifest reaches to its chats. */
export const holdsHead = (start: string): boolean => start.includes(HEAD_END)

/**
 * The members of a manifest before its chats, read without checking the seal: for lists.
 * @param start of the file, at least to the line that starts the chats
 */
export function readHead(start: string, name: string): Decoded<ManifestHead> {
  const at = start.indexOf(HEAD_END)
  const head = at < 0 || isTooDeep(start.slice(0, at)) ? null : parseJson(`${start.slice(0, at)}}`)
  const read = headAlone.safeParse(head)
  if (!read.success || read.data.name !== name) return damaged('it does not start like a manifest')
  return { kind: 'sound', value: read.data }
}

/** The seal in a manifest's last bytes. Null if there is none. */
export const sealOf = (end: string): string | null => /"sha256": "([0-9a-f]{64})"\n\}\n$/.exec(end)?.[1] ?? null

/** Null if it is not JSON: a file with a right seal can still contain anything. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const sha256 = (text: string): string => digest('sha256', text)

/** Larger than any revision: no chat is written that often. */
const REWRITTEN = 2 ** 52

/**
 * The revision in a manifest after a purge rewrote the object. No mirror has it, so the next run archives the chat again.
 * It still shows which of two states is newer.
 */
export const rewrittenRevision = (revision: number): number => (revision % REWRITTEN) + REWRITTEN

/** Compares two archived revisions of one chat from one mirror, rewritten or not. */
export const isNewer = (one: number, other: number): boolean => one % REWRITTEN > other % REWRITTEN
