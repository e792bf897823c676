import { createHash } from 'node:crypto'
import type { ArchivedChat, ArchivedMessage, ArchivedObject } from '../../../archive/archived-chat.ts'
import { emptyChange, type Written, type MessageWrite } from '../../../model/change.ts'
import { findHeldChat, type HeldChat } from '../../../mirror/write/chat-columns.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import { Bars } from '../../../mirror/purge/bars.ts'
import { ARCHIVE, saveSourceState, sourceNum } from '../../../mirror/sources/sources.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { asChatId, asSourceId } from '../../../model/ids.ts'
import { URGENT_MAX } from '../../source.ts'
import * as decode from './decode.ts'

/** Every other source of a chat is more complete. */
const RANK = 1000
const UNREAD = { kind: 'unread' } as const
/** At most this much is written in one transaction. */
const MESSAGES_MAX = 500
const OCTETS_MAX = 2 * 1024 * 1024

export interface RestoreWorld {
  /** The current mirror; it may be rebuilt between two steps. */
  readonly mirror: () => Mirror
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly mapUri: decode.MapUri
}

/**
 * Restores what an archived chat contains and no other source has or ever had. It is written like every source, in bounded
 * steps. What is in the mirror stays unchanged, so a repeated or interrupted restore has the same result.
 * @param before how many messages were restored before. After the first ones full-text rows wait
 */
export function* restoreChat(
  { mirror, now, mapUri }: RestoreWorld,
  object: ArchivedObject,
  before: number,
): Generator<Written> {
  const { chat } = object
  const id = asChatId(chat.id)
  // Nothing of it would be written, and nothing counts as restored.
  if (new Bars(mirror()).hasChat(id)) return
  const held = findHeldChat(mirror(), id)
  const missing = object.messages.filter((message) => held?.messageIds.has(message.id) !== true)
  const isNewer = isNews(held, chat)
  if (missing.length === 0 && !isNewer) return
  const evidence = held?.hasProject === true ? [] : decode.decodeEvidence(chat, mapUri)
  const paths = isNewer ? [{ chatId: id, uris: chat.paths.map(mapUri) }] : []
  const tracked = isNewer ? decode.decodeTracked(chat) : []
  const ownRow = isNewer ? ownRowOf(object) : UNREAD
  let added = before
  for (const [index, messages] of portionsOf(missing).entries()) {
    const db = mirror()
    const outcome = writeChange(db, {
      ...emptyChange,
      source: sourceOf(db, ARCHIVE, chat.origin, now()),
      nowMs: now(),
      chats: [{ id, vanished: [], ownRow: index === 0 ? ownRow : UNREAD, messages }],
      ...(index === 0 ? { evidence, paths, tracked } : {}),
      isUrgent: added < URGENT_MAX,
    })
    added += messages.length
    yield outcome
  }
}

/** What is written together. A chat without messages is one portion too. */
function portionsOf(messages: readonly ArchivedMessage[]): readonly (readonly MessageWrite[])[] {
  let portion: MessageWrite[] = []
  let octets = 0
  const portions = [portion]
  for (const message of messages) {
    if (portion.length >= MESSAGES_MAX || octets >= OCTETS_MAX) {
      portions.push((portion = []))
      octets = 0
    }
    const packed = packMessage(decode.decodeMessage(message))
    portion.push(packed)
    octets += packed.partsJson.length
  }
  return portions
}

/**
 * The number of the source of all chats that come from one place.
 * @param path the identity of the mirror from which chats were archived, or the kind of store of pulled ones
 */
export function sourceOf(db: Mirror, kind: string, path: string, nowMs: number): number {
  const id = createHash('sha256').update(`${kind}\0${path}`).digest('hex').slice(0, 16)
  const source = sourceNum(db, { id: asSourceId(id), kind, path, rank: RANK })
  saveSourceState(db, { num: source, state: 'ok', detail: null, syncedAtMs: nowMs })
  return source
}

export const ownRowOf = (object: decode.PlacedObject) => ({
  kind: 'remembered' as const,
  facts: decode.decodeFacts(object.chat),
  outline: decode.decodeOutline(object),
  octets: object.chat.octets,
  deletedAtMs: decode.atMs(object.chat.deletedAt),
})

/** Facts that a store once gave about the chat are kept; those of an older archive are replaced by those of a newer one. */
function isNews(held: HeldChat | null, { updatedAt }: ArchivedChat): boolean {
  if (held === null) return true
  const isLater = (decode.atMs(updatedAt) ?? -Infinity) > (held.updatedAtMs ?? -Infinity)
  return !held.isTold && (!held.isRemembered || isLater)
}
