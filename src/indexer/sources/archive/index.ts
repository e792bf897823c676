import { createHash } from 'node:crypto'
import type { DamagedChat, ProvenChat } from '../../../archive/record.ts'
import {
  emptyBatch,
  type BatchOutcome,
  type ChatWrite,
  type EvidenceWrite,
  type MessageWrite,
  type PathsWrite,
} from '../../../mirror/write/batch.ts'
import { findHeldChat, isMirrored, type HeldChat } from '../../../mirror/write/chats/held-chat.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { packMessage } from '../../../mirror/write/messages/pack-message.ts'
import { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { ARCHIVE } from '../../../mirror/sources/source-ranks.ts'
import { saveSourceState, sourceNum } from '../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asChatId, asSourceId, type ChatId } from '../../../model/ids.ts'
import type { TrackedWrite } from '../../../model/commit.ts'
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

/** What was done since the previous step. */
export interface RestoreStep {
  /** The undamaged chat that was dealt with. */
  readonly sound: ProvenChat | null
  readonly damaged: DamagedChat | null
  /** How many chats were added that lists show. */
  readonly addedChats: number
  /** Null if nothing had to be written. */
  readonly outcome: BatchOutcome | null
}

const nothing: RestoreStep = { sound: null, damaged: null, addedChats: 0, outcome: null }

/** Whether lists show the chat: no subagent, no draft, and with a message in its thread. */
export const isListed = ({ chat, places }: ProvenChat): boolean =>
  !chat.isSubagent && !chat.isDraft && places.some(({ position }) => position !== null)

/** The identity of a mirror names a source; other text could imitate another source. */
const isOrigin = (origin: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(origin)

/**
 * Restores what an archive contains and no other source has or ever had. It is written like every source, in bounded
 * steps. What is in the mirror stays unchanged, so a repeated or interrupted restore has the same result.
 * @param chats null gives other work a turn
 */
export async function* restoreChats(
  world: RestoreWorld,
  chats: AsyncIterable<ProvenChat | DamagedChat | null>,
): AsyncGenerator<RestoreStep, void> {
  const writer = new PortionWriter(world)
  for await (const chat of chats) {
    if (chat?.kind === 'sound' && isOrigin(chat.chat.origin)) {
      yield* writer.take(chat)
      yield { ...nothing, sound: chat }
    } else if (chat?.kind === 'sound') {
      const why = 'its origin is not the identity of a mirror'
      yield { ...nothing, damaged: { kind: 'damaged', id: chat.chat.id, why } }
    } else yield { ...nothing, damaged: chat }
  }
  yield* writer.flush()
}

/** Collects what is written together: chats of one origin. */
class PortionWriter {
  readonly #world: RestoreWorld
  #origin = ''
  #portion = emptyPortion()
  #written = 0

  constructor(world: RestoreWorld) {
    this.#world = world
  }

  async *take(proven: ProvenChat): AsyncGenerator<RestoreStep> {
    const { chat, places } = proven
    const id = asChatId(chat.id)
    const db = this.#world.mirror()
    // Nothing of it would be written, and nothing counts as restored.
    if (new Tombstones(db).hasChat(id)) return
    const held = findHeldChat(db, id)
    const isMissing = (message: { readonly id: string }): boolean => held?.messageIds.has(message.id) !== true
    const isIncomplete = places.some(isMissing)
    const isNewer = isNews(held, chat)
    if (!isIncomplete && !isNewer) return
    if (chat.origin !== this.#origin) yield* this.flush()
    this.#origin = chat.origin
    const { mapUri } = this.#world
    if (held?.hasProject !== true) this.#portion.evidence.push(...decode.decodeEvidence(chat, mapUri))
    if (isNewer) {
      this.#portion.paths.push(decode.decodePaths(chat, mapUri))
      this.#portion.tracked.push(...decode.decodeTracked(chat))
    }
    if (held === null && isListed(proven)) this.#portion.newChats.push(id)
    let messages: MessageWrite[] = []
    this.#portion.chats.push({ id, vanished: [], ownRow: isNewer ? ownRowOf(proven) : UNREAD, messages })
    for await (const message of isIncomplete ? proven.messages() : []) {
      if (!isMissing(message)) continue
      if (this.#isFull) {
        yield* this.flush()
        messages = []
        this.#portion.chats.push({ id, vanished: [], ownRow: UNREAD, messages })
      }
      const packed = packMessage(decode.decodeMessage(message))
      messages.push(packed)
      this.#portion.messages += 1
      this.#portion.octets += packed.partsJson.length
    }
    if (this.#isFull) yield* this.flush()
  }

  get #isFull(): boolean {
    const { chats, messages, octets } = this.#portion
    return messages >= MESSAGES_MAX || octets >= OCTETS_MAX || chats.length >= MESSAGES_MAX
  }

  *flush(): Generator<RestoreStep> {
    const { newChats, messages, octets: _, ...writes } = this.#portion
    this.#portion = emptyPortion()
    if (writes.chats.length === 0) return
    const db = this.#world.mirror()
    const nowMs = this.#world.now()
    const source = sourceNum(db, sourceOf(this.#origin))
    saveSourceState(db, source, 'ok', null, nowMs)
    const isIndexedLater = this.#written >= INDEXED_AT_ONCE
    const outcome = writeBatch(db, { ...emptyBatch, source, nowMs, ...writes, isIndexedLater })
    this.#written += messages
    // The chats of excluded projects are not written.
    yield { ...nothing, addedChats: newChats.filter((id) => isMirrored(db, id)).length, outcome }
  }
}

/** What is written in one transaction. */
const emptyPortion = () => ({
  chats: [] as ChatWrite[],
  evidence: [] as EvidenceWrite[],
  paths: [] as PathsWrite[],
  tracked: [] as TrackedWrite[],
  /** Chats that the mirror did not have and lists show. */
  newChats: [] as ChatId[],
  messages: 0,
  octets: 0,
})

const UNREAD = { kind: 'unread' } as const

/** One source for each mirror from which chats were archived; its path is the identity of that mirror. */
function sourceOf(origin: string) {
  const id = createHash('sha256').update(`${ARCHIVE}\0${origin}`).digest('hex').slice(0, 16)
  return { id: asSourceId(id), kind: ARCHIVE, path: origin, rank: RANK }
}

const ownRowOf = ({ chat, places }: ProvenChat): ChatWrite['ownRow'] => ({
  kind: 'remembered',
  facts: decode.decodeFacts(chat),
  outline: decode.decodeOutline(chat, places),
  octets: chat.octets,
  deletedAtMs: decode.atMs(chat.deletedAt),
})

/** Facts that a store once gave about the chat are kept; those of an older archive are replaced by those of a newer one. */
function isNews(held: HeldChat | null, { updatedAt }: ProvenChat['chat']): boolean {
  if (held === null) return true
  const isLater = (decode.atMs(updatedAt) ?? -Infinity) > (held.updatedAtMs ?? -Infinity)
  return !held.isTold && (!held.isRemembered || isLater)
}
