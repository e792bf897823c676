import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Decoded } from './chat-file.ts'
import { isObjectHash, isRunName } from './names.ts'

export const MANIFEST_FORMAT = 'cursordex-archive'
export const MANIFEST_VERSION = 1

const hash = z.string().refine(isObjectHash, { error: 'not a SHA-256 in lower-case hex' })
const count = z.number().int().nonnegative()
const word = z.string().min(1).max(4096)

const chatEntry = z.strictObject({
  id: word,
  /** Of the object's bytes, and thereby its name. */
  object: hash,
  /** Of the text in it. */
  content: hash,
  bytes: count,
  /** Of the mirror, when it was archived: an equal one needs not be read again. */
  revision: count,
  /** Of each message's line, in order. */
  messages: z.array(hash).max(1_000_000),
})

const manifest = z.strictObject({
  format: z.literal(MANIFEST_FORMAT),
  version: z.literal(MANIFEST_VERSION),
  name: z.string().refine(isRunName, { error: 'not the name of a run' }),
  createdAt: z.iso.datetime({ precision: 3 }),
  /** When every object it names was last read back before it was written. */
  provenAt: z.iso.datetime({ precision: 3 }),
  job: word.nullable(),
  scope: z.json(),
  program: z.strictObject({ name: word, version: word, schema: count }),
  /** The mirror from which it was made. */
  origin: word,
  chatCount: count,
  messageCount: count,
  /** Of all objects that it names, each once. */
  bytes: count,
  chats: z.array(chatEntry).max(10_000_000),
})

const sealed = manifest.extend({ sha256: hash })

export type Manifest = z.infer<typeof manifest>
export type SealedManifest = z.infer<typeof sealed>
export type ChatEntry = z.infer<typeof chatEntry>

/**
 * A manifest as a file: JSON with a chat a line, whose last member, on a line of its own, is the SHA-256 of all bytes
 * before that line.
 */
export function sealManifest({ chats, ...head }: Manifest): string {
  const members = Object.entries(head).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  const lines = chats.map((entry) => JSON.stringify(entry)).join(',\n')
  const body = `{\n${members.join('')}"chats": [\n${lines}\n],\n`
  return `${body}"sha256": "${sha256(body)}"\n}\n`
}

/** @param name the one that its file has */
export function openManifest(text: string, name: string): Decoded<SealedManifest> {
  const at = text.lastIndexOf('"sha256": "')
  const seal = at < 0 ? '' : sha256(text.slice(0, at))
  if (at < 0 || text.slice(at) !== `"sha256": "${seal}"\n}\n`) return damaged('its seal does not fit what it holds')
  const read = sealed.safeParse(parseJson(text))
  if (!read.success) {
    const [issue] = read.error.issues
    return damaged(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not what it should be'}`)
  }
  if (read.data.name !== name) return damaged(`it names itself ${read.data.name}`)
  const { chats, chatCount, messageCount } = read.data
  const messages = chats.reduce((sum, entry) => sum + entry.messages.length, 0)
  if (chats.length !== chatCount || messages !== messageCount) return damaged('its counts are not those of its chats')
  if (new Set(chats.map(({ id }) => id)).size < chats.length) return damaged('it names a chat twice')
  return { kind: 'sound', value: read.data }
}

/** Null for what is no JSON: whoever seals a file may have written anything into it. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })
