import type { ChatFacts, RowIssue } from '../../../mirror/write/batch.ts'
import type { ReferringChat } from '../../../mirror/write/pending-references.ts'
import { readOutline } from '../../../mirror/threads/outlines.ts'
import { packMessage } from '../../../mirror/write/messages/pack-message.ts'
import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import type { PassStep } from '../../source.ts'
import { goneChat, withoutOldReading } from '../../open-safely/write-whole.ts'
import { madeId } from '../records/chat/whole-chats.ts'
import { decodeModelThread } from '../records/state/model-messages.ts'
import { unreadMessage } from '../records/state/model-parts.ts'
import { walkState } from '../records/state/walk-state.ts'
import { blobKey, decodeBlob, VALUE_OCTETS_MAX, type ChatState } from './read-state.ts'
import { foundStep, rowOf, type BlobPass } from './blob-pass.ts'
import { readNamed } from './read.ts'

/**
 * Recovers the thread of a chat whose messages are gone, as the model saw it. Its messages have made-up ids and no
 * times. If the chat's own messages come back, these are copies of them.
 */
export function* recoverThread(
  pass: BlobPass,
  chat: ReferringChat,
  { root, facts }: ChatState,
): Generator<PassStep, void> {
  if (facts === null) return
  const reading = { bytesRead: 0, elapsedMs: 0, octets: new Map<string, number>() }
  const walked = walkState(root, (ids) => readBlobs(pass, ids, reading))
  const name: NameMessage = (key, occurrence) => nameMessage(chat.id, key, occurrence)
  const thread = decodeModelThread(walked.entries, name)
  const messages = thread.messages.map((message) => packMessage({ ...message, isEmbedded: true }))
  const issues = [...walked.issues, ...thread.issues].map(({ key, reason }): RowIssue => ({
    key: blobKey(key),
    reason,
    octets: reading.octets.get(key) ?? null,
  }))
  const rows = [...reading.octets].map(([id, octets]) => rowOf({ key: blobKey(id), octets }))
  const read = walked.entries.flatMap(({ key, message }) => (message === unreadMessage ? [] : key))
  const before = readBefore(pass, chat, [...reading.octets.keys(), ...read], name)
  const write = messages.length === 0 ? goneChat(chat.id) : chatWrite(chat.id, facts, thread.outline, messages)
  const isWritten = messages.length > 0 || before !== undefined
  const chats = isWritten ? [withoutOldReading(write, before)] : []
  yield foundStep(pass, reading, { chats, issues, rows })
}

type NameMessage = (key: string, occurrence: number) => MessageId

/**
 * What an older decoder read of the chat; undefined if none did. The store counts as untouched if everything that had a
 * message then was read now: if part of it yields no message any more, it never was one.
 */
function readBefore(
  pass: BlobPass,
  { num }: ReferringChat,
  keys: readonly string[],
  name: NameMessage,
): { readonly isUntouched: boolean } | undefined {
  const former = pass.isOutdated ? (readOutline(pass.mirror, num, pass.num) ?? null) : null
  if (former === null) return undefined
  const places = new Map(keys.map((key) => [name(key, 0), { key, occurrence: 0 }]))
  const isRead = ({ id, role }: OutlineEntry): boolean => {
    const place = id === null ? undefined : places.get(id)
    if (place === undefined) return role === null
    const occurrence = place.occurrence + 1
    places.set(name(place.key, occurrence), { key: place.key, occurrence })
    return true
  }
  return { isUntouched: former.every(isRead) }
}

function chatWrite(
  id: ChatId,
  facts: ChatFacts,
  outline: ReturnType<typeof decodeModelThread>['outline'],
  messages: readonly ReturnType<typeof packMessage>[],
) {
  const embeddedIds = new Set(messages.map((message) => message.id))
  return { id, ownRow: { kind: 'read' as const, facts, outline, embeddedIds, octets: 0 }, messages, vanished: [] }
}

interface Reading {
  bytesRead: number
  /** Of the longest transaction. */
  elapsedMs: number
  /** Size of each blob that was read. */
  readonly octets: Map<string, number>
}

function readBlobs(pass: BlobPass, ids: readonly string[], reading: Reading): Map<string, Buffer | null> {
  const keys = new Map(ids.map((id) => [blobKey(id), id]))
  const found = new Map<string, Buffer | null>(ids.map((id) => [id, null]))
  for (const { values, bytesRead, elapsedMs } of readNamed(pass.file, [...keys.keys()], VALUE_OCTETS_MAX)) {
    reading.bytesRead += bytesRead
    reading.elapsedMs = Math.max(reading.elapsedMs, elapsedMs)
    for (const { key, value, octets } of values) {
      const id = keys.get(key)
      if (id === undefined || value === null || value.length < octets) continue
      found.set(id, decodeBlob(value))
      reading.octets.set(id, octets)
    }
  }
  return found
}

/** The same text can be sent twice: then the same blob is at two places of the thread. */
const nameMessage = (chatId: ChatId, key: string, occurrence: number): MessageId =>
  madeId(['agent-blobs', chatId, key, occurrence])
