import { createHash } from 'node:crypto'
import type { ArchivedChat, ArchivedObject } from '../../../archive/archived-chat.ts'
import { emptyBatch, type BatchOutcome, type ChatWrite, type MessageWrite } from '../../../mirror/write/batch.ts'
import { findHeldChat, isMirrored, type HeldChat } from '../../../mirror/write/chats/held-chat.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { packMessage } from '../../../mirror/write/messages/pack-message.ts'
import { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { ARCHIVE } from '../../../mirror/sources/source-ranks.ts'
import { saveSourceState, sourceNum } from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asChatId, asSourceId, type ChatId } from '../../../model/ids.ts'
import { INDEXED_AT_ONCE } from '../../source.ts'
import * as decode from './decode.ts'
import type { MapUri } from './map-uri.ts'

/** Every other source of a chat is more complete. */
const RANK = 1000
/** At most this much is written in one transaction. */
const MESSAGES_MAX = 500
const OCTETS_MAX = 2 * 1024 * 1024

export interface RestoreWorld {
  /** The current mirror; it may be rebuilt between two steps. */
  mirror(): Mirror
  /** Epoch milliseconds. */
  now(): number
  readonly mapUri: MapUri
}

/** What was written in one transaction. */
export interface Restored {
  readonly outcome: BatchOutcome
  /** How many chats were added that lists show. */
  readonly addedChats: number
}

/** Whether lists show the chat: no subagent, no draft, and with a message in its thread. */
export const isListed = ({ chat, messages }: ArchivedObject): boolean =>
  !chat.isSubagent && !chat.isDraft && messages.some(({ position }) => position !== null)

/** What is written together: chats of one origin. */
const emptyPortion = (origin = '') => ({
  origin,
  chats: [] as ChatWrite[],
  evidence: [] as ReturnType<typeof decode.decodeEvidence>,
  paths: [] as ReturnType<typeof decode.decodePaths>[],
  tracked: [] as ReturnType<typeof decode.decodeTracked>,
  /** Chats that the mirror did not have and lists show. */
  newChats: [] as ChatId[],
  messages: 0,
  octets: 0,
})

/**
 * Restores what an archive contains and no other source has or ever had. It is written like every source, in bounded
 * steps. What is in the mirror stays unchanged, so a repeated or interrupted restore has the same result.
 */
export class RestoreWriter {
  readonly #world: RestoreWorld
  #portion = emptyPortion()
  #written = 0

  constructor(world: RestoreWorld) {
    this.#world = world
  }

  *take(object: ArchivedObject): Generator<Restored> {
    const { chat } = object
    const id = asChatId(chat.id)
    const db = this.#world.mirror()
    // Nothing of it would be written, and nothing counts as restored.
    if (new Tombstones(db).hasChat(id)) return
    const held = findHeldChat(db, id)
    const missing = object.messages.filter((message) => held?.messageIds.has(message.id) !== true)
    const isNewer = isNews(held, chat)
    if (missing.length === 0 && !isNewer) return
    if (chat.origin !== this.#portion.origin) yield* this.flush(chat.origin)
    const { mapUri } = this.#world
    if (held?.hasProject !== true) this.#portion.evidence.push(...decode.decodeEvidence(chat, mapUri))
    if (isNewer) {
      this.#portion.paths.push(decode.decodePaths(chat, mapUri))
      this.#portion.tracked.push(...decode.decodeTracked(chat))
    }
    if (held === null && isListed(object)) this.#portion.newChats.push(id)
    let messages: MessageWrite[] = []
    this.#portion.chats.push({ id, vanished: [], ownRow: isNewer ? ownRowOf(object) : UNREAD, messages })
    for (const message of missing) {
      if (this.#isFull) {
        yield* this.flush(chat.origin)
        messages = []
        this.#portion.chats.push({ id, vanished: [], ownRow: UNREAD, messages })
      }
      const packed = packMessage(decode.decodeMessage(message))
      messages.push(packed)
      this.#portion.messages += 1
      this.#portion.octets += packed.partsJson.length
    }
    if (this.#isFull) yield* this.flush(chat.origin)
  }

  get #isFull(): boolean {
    const { chats, messages, octets } = this.#portion
    return messages >= MESSAGES_MAX || octets >= OCTETS_MAX || chats.length >= MESSAGES_MAX
  }

  /** Writes what was taken. @param origin that of the next chat */
  *flush(origin = ''): Generator<Restored> {
    const { newChats, messages, octets: _, origin: path, ...writes } = this.#portion
    this.#portion = emptyPortion(origin)
    if (writes.chats.length === 0) return
    const db = this.#world.mirror()
    const nowMs = this.#world.now()
    const source = sourceNum(db, sourceOf(path))
    saveSourceState(db, source, 'ok', null, nowMs)
    const isIndexedLater = this.#written >= INDEXED_AT_ONCE
    const outcome = writeBatch(db, { ...emptyBatch, source, nowMs, ...writes, isIndexedLater })
    this.#written += messages
    // The chats of excluded projects are not written.
    yield { outcome, addedChats: newChats.filter((id) => isMirrored(db, id)).length }
  }
}

const UNREAD = { kind: 'unread' } as const

/** One source for each mirror from which chats were archived; its path is the identity of that mirror. */
function sourceOf(origin: string) {
  const id = createHash('sha256').update(`${ARCHIVE}\0${origin}`).digest('hex').slice(0, 16)
  return { id: asSourceId(id), kind: ARCHIVE, path: origin, rank: RANK }
}

const ownRowOf = (object: ArchivedObject): ChatWrite['ownRow'] => ({
  kind: 'remembered',
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
