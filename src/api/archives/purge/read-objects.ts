import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isObjectHash } from '../../../archive/names.ts'
import { readChat } from '../../../archive/chat-file.ts'
import type { ArchivedChat, ArchivedMessage } from '../../../archive/record.ts'
import { guessChatId, readPacked, unpack } from '../object-files.ts'
import { listRunNames, readManifest } from '../manifest-files.ts'
import { isFolder } from '../plain-files.ts'

export interface ReadObject {
  readonly kind: 'sound'
  readonly hash: string
  readonly chat: ArchivedChat
  readonly messages: readonly { readonly message: ArchivedMessage; readonly line: string }[]
}

/** An object that cannot be read. */
export interface DamagedObject {
  readonly kind: 'damaged'
  readonly hash: string
  readonly why: string
  /** From the run that names it, or from its readable beginning; null if unknown. */
  readonly chatId: string | null
}

/** Hashes of all objects in the folder, whether a run names them or not. */
export function listObjects(dir: string): readonly string[] {
  const objects = join(dir, 'objects')
  if (!isFolder(objects)) return []
  return readdirSync(objects).flatMap((folder) => {
    if (!/^[0-9a-f]{2}$/.test(folder) || !isFolder(join(objects, folder))) return []
    const hashes = readdirSync(join(objects, folder)).map((file) => file.replace(/\.jsonl\.gz$/, ''))
    return hashes.filter((hash) => isObjectHash(hash) && hash.startsWith(folder))
  })
}

/** Every object of an archive folder, one at a time. */
export function* readObjects(dir: string): Generator<ReadObject | DamagedObject> {
  for (const hash of listObjects(dir)) yield readOne(dir, hash)
}

function readOne(dir: string, hash: string): ReadObject | DamagedObject {
  const packed = readPacked(dir, hash)
  const text = packed.kind === 'sound' ? unpack(packed.value) : packed
  if (text.kind === 'damaged') return damaged(dir, hash, text.why)
  const messages: { message: ArchivedMessage; line: string }[] = []
  const chat = readChat(text.value.toString(), (message, line) => messages.push({ message, line }))
  if (chat.kind === 'damaged') return damaged(dir, hash, chat.why)
  return { kind: 'sound', hash, chat: chat.value, messages }
}

const damaged = (dir: string, hash: string, why: string): DamagedObject => ({
  kind: 'damaged',
  hash,
  why,
  chatId: namedChatId(dir, hash) ?? guessChatId(dir, hash),
})

function namedChatId(dir: string, hash: string): string | null {
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    const entry = read.kind === 'damaged' ? undefined : read.value.chats.find(({ object }) => object === hash)
    if (entry !== undefined) return entry.id
  }
  return null
}
