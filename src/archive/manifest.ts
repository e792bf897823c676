import { createHash, hash as digest } from 'node:crypto'
import * as z from 'zod/mini'
import { damaged, issueText, isTooDeep, type Decoded } from './chat-file.ts'
import { isObjectHash, isRunName } from './names.ts'

export const MANIFEST_FORMAT = 'cursordex-archive'
export const MANIFEST_VERSION = 1

const hash = z.string().check(z.refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' }))
/** Looked at as one: there is one for each message, and a schema for each takes five times as long. */
const hashes = z.custom<string[]>(isHashList, { error: 'not a list of SHA-256 in lower-case hex' })
const count = z.int().check(z.nonnegative())
const word = z.string().check(z.minLength(1), z.maxLength(4096))
const time = z.iso.datetime({ precision: 3 })

const chatEntry = z.strictObject({
  /** As its store gave it. */
  id: z.string(),
  /** Of the object's bytes, and thereby its name. */
  object: hash,
  /** Of the text in it. */
  content: hash,
  bytes: count,
  /** Of the mirror, when it was archived: an equal one needs not be read again. `revisions.ts` says what a purge makes of it. */
  revision: count,
  /** Of each message's line, in order. */
  messages: hashes,
})

function isHashList(given: unknown): boolean {
  if (!Array.isArray(given) || given.length > 10_000_000) return false
  return given.every((item) => typeof item === 'string' && isObjectHash(item))
}

const leftOutChat = z.strictObject({
  id: z.string(),
  /** What was wrong with it. */
  why: z.string(),
})

const headMembers = {
  format: z.literal(MANIFEST_FORMAT),
  version: z.literal(MANIFEST_VERSION),
  name: z.string().check(z.refine(isRunName, { error: 'not the name of a run' })),
  createdAt: time,
  /** When every object it names was last read back before it was written. */
  provenAt: time,
  job: z.nullable(word),
  scope: z.json(),
  program: z.strictObject({ name: word, version: word, schema: count }),
  /** The mirror from which it was made. */
  origin: word,
  chatCount: count,
  messageCount: count,
  /** Of all objects that it names, each once. */
  bytes: count,
  /** Chats that could not be archived as they were; `chats` may hold an older state of one. Missing where there are none. */
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

/** A piece of a manifest's file is somewhat longer than this. */
const PIECE_LENGTH = 1024 * 1024

/**
 * A manifest as a file: JSON with a chat a line, whose last member, on a line of its own, is the SHA-256 of all bytes
 * before that line. In pieces, for of half a million messages the whole takes 40 MB, and each copy as much again.
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

/** All but the seal. */
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

/** @param name the one that its file has */
export function openManifest(text: string, name: string): Decoded<SealedManifest> {
  const at = text.lastIndexOf('"sha256": "')
  const seal = at < 0 ? '' : sha256(text.slice(0, at))
  if (at < 0 || text.slice(at) !== `"sha256": "${seal}"\n}\n`) return damaged('its seal does not fit what it holds')
  if (isTooDeep(text)) return damaged('it is nested too deep')
  const read = sealed.safeParse(parseJson(text))
  if (!read.success) return damaged(issueText(read.error))
  if (read.data.name !== name) return damaged(`it names itself ${read.data.name}`)
  const { chats, chatCount, messageCount } = read.data
  const messages = chats.reduce((sum, entry) => sum + entry.messages.length, 0)
  if (chats.length !== chatCount || messages !== messageCount) return damaged('its counts are not those of its chats')
  if (new Set(chats.map(({ id }) => id)).size < chats.length) return damaged('it names a chat twice')
  return { kind: 'sound', value: read.data }
}

/** Within a value no line ends. */
const HEAD_END = ',\n"chats": [\n'

/** Whether the first piece of a manifest reaches to where the chats begin. */
export const holdsHead = (start: string): boolean => start.includes(HEAD_END)

/**
 * What a manifest says before it comes to its chats, read without the rest and without its seal: for lists.
 * @param start of the file, to behind the line that begins the chats
 */
export function readHead(start: string, name: string): Decoded<ManifestHead> {
  const at = start.indexOf(HEAD_END)
  const head = at < 0 || isTooDeep(start.slice(0, at)) ? null : parseJson(`${start.slice(0, at)}}`)
  const read = headAlone.safeParse(head)
  if (!read.success || read.data.name !== name) return damaged('it does not begin as a manifest does')
  return { kind: 'sound', value: read.data }
}

/** The seal that a manifest's last bytes hold; null where they hold none. */
export const sealOf = (end: string): string | null => /"sha256": "([0-9a-f]{64})"\n\}\n$/.exec(end)?.[1] ?? null

/** Null for what is no JSON: whoever seals a file may have written anything into it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const sha256 = (text: string): string => digest('sha256', text)

/** No chat is ever written so often. */
const REWRITTEN = 2 ** 52

/**
 * What a run says in a revision's place once a purge wrote the object anew: one that no mirror has, so that what a mirror
 * holds is compared anew by its next run, and that yet tells which state is the newer one.
 */
export const rewrittenRevision = (revision: number): number => (revision % REWRITTEN) + REWRITTEN

/** Of two states that one mirror archived of a chat, be they as they were archived or rewritten. */
export const isNewer = (one: number, other: number): boolean => one % REWRITTEN > other % REWRITTEN
