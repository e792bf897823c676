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
  readonly chats: number
  readonly messages: number
  readonly addedChats: number
  readonly damaged: readonly DamagedChat[]
  /** Null if nothing had to be written. */
  readonly outcome: BatchOutcome | null
}

/** Whether lists show the chat: no subagent, no draft, and with a message in its thread. */
export const isListed = ({ chat, places }: ProvenChat): boolean =>
  !chat.isSubagent && !chat.isDraft && places.some(({ position }) => position !== null)

/**
 * Restores what an archive contains and no other source has or ever had. It is written like every source, in bounded
 * steps. What is in the mirror stays unchanged, so a repeated or interrupted restore has the same result.
 */
export async function* restoreChats(
  world: RestoreWorld,
  chats: AsyncIterable<ProvenChat | DamagedChat>,
): AsyncGenerator<RestoreStep, void> {
  const writer = new PortionWriter(world)
  for await (const chat of chats) {
    if (chat.kind === 'damaged' || !isOrigin(chat.chat.origin)) {
      const damaged = chat.kind === 'damaged' ? chat : noOrigin(chat)
      yield { ...nothing, damaged: [damaged] }
      continue
    }
    yield* writer.take(chat)
    yield { ...nothing, chats: 1, messages: chat.places.length }
  }
  yield* writer.flush()
}

const nothing: RestoreStep = { chats: 0, messages: 0, addedChats: 0, damaged: [], outcome: null }

/** The identity of a mirror names a source; other text could imitate another source. */
const isOrigin = (origin: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(origin)

const noOrigin = ({ chat }: ProvenChat): DamagedChat => ({
  kind: 'damaged',
  id: chat.id,
  why: 'its origin is not the identity of a mirror',
})

interface Portion {
  readonly chats: ChatWrite[]
  readonly evidence: EvidenceWrite[]
  readonly paths: PathsWrite[]
  readonly tracked: TrackedWrite[]
}

/** Collects what is written together: chats of one origin. */
class PortionWriter {
  readonly #world: RestoreWorld
  #origin = ''
  #portion = emptyPortion()
  #messages = 0
  #octets = 0
  /** Chats of the portion that the mirror did not have and lists show. */
  #newChats: ChatId[] = []
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
    if (held !== null && !places.some(isMissing) && !isNews(held, chat)) return
    if (chat.origin !== this.#origin) yield* this.flush()
    this.#origin = chat.origin
    const ownRow = ownRowOf(proven, held)
    let messages: MessageWrite[] = []
    const write = { id, vanished: [] }
    let isFirst = true
    if (held?.hasProject !== true) this.#portion.evidence.push(...decode.decodeEvidence(chat, this.#world.mapUri))
    if (ownRow.kind === 'remembered') {
      this.#portion.paths.push(decode.decodePaths(chat, this.#world.mapUri))
      this.#portion.tracked.push(...decode.decodeTracked(chat))
    }
    if (held === null && isListed(proven)) this.#newChats.push(id)
    if (places.some(isMissing)) {
      for await (const message of proven.messages()) {
        if (!isMissing(message)) continue
        const packed = packMessage(decode.decodeMessage(message))
        messages.push(packed)
        this.#messages += 1
        this.#octets += packed.partsJson.length
        if (!this.#isFull) continue
        this.#portion.chats.push({ ...write, ownRow: isFirst ? ownRow : UNREAD, messages })
        yield* this.flush()
        messages = []
        isFirst = false
      }
    }
    if (messages.length > 0 || isFirst)
      this.#portion.chats.push({ ...write, ownRow: isFirst ? ownRow : UNREAD, messages })
    if (this.#isFull || this.#portion.chats.length >= MESSAGES_MAX) yield* this.flush()
  }

  get #isFull(): boolean {
    return this.#messages >= MESSAGES_MAX || this.#octets >= OCTETS_MAX
  }

  *flush(): Generator<RestoreStep> {
    const { chats, evidence, paths, tracked } = this.#portion
    if (chats.length + evidence.length + paths.length === 0) return
    const db = this.#world.mirror()
    const nowMs = this.#world.now()
    const source = sourceNum(db, sourceOf(this.#origin))
    saveSourceState(db, source, 'ok', null, nowMs)
    const isIndexedLater = this.#written >= INDEXED_AT_ONCE
    const batch = { ...emptyBatch, source, nowMs, chats, evidence, paths, tracked, isIndexedLater }
    const outcome = writeBatch(db, batch)
    this.#written += this.#messages
    // The chats of excluded projects are not written.
    const addedChats = this.#newChats.filter((id) => isMirrored(db, id)).length
    this.#portion = emptyPortion()
    this.#messages = 0
    this.#octets = 0
    this.#newChats = []
    yield { ...nothing, addedChats, outcome }
  }
}

const UNREAD = { kind: 'unread' } as const
const emptyPortion = (): Portion => ({ chats: [], evidence: [], paths: [], tracked: [] })

/** One source for each mirror from which chats were archived; its path is the identity of that mirror. */
function sourceOf(origin: string) {
  const id = createHash('sha256').update(`${ARCHIVE}\0${origin}`).digest('hex').slice(0, 16)
  return { id: asSourceId(id), kind: ARCHIVE, path: origin, rank: RANK }
}

/**
 * Facts that a store once gave about the chat are kept; those of an older archive are replaced by those of a newer one.
 */
function ownRowOf({ chat, places }: ProvenChat, held: HeldChat | null): ChatWrite['ownRow'] {
  if (held !== null && !isNews(held, chat)) return UNREAD
  return {
    kind: 'remembered',
    facts: decode.decodeFacts(chat),
    outline: decode.decodeOutline(chat, places),
    octets: chat.octets,
    deletedAtMs: decode.atMs(chat.deletedAt),
  }
}

const isNews = (held: HeldChat, chat: ProvenChat['chat']): boolean =>
  !held.isTold && (!held.isRemembered || isNewer(chat.updatedAt, held))

const isNewer = (updatedAt: string | null, { updatedAtMs }: HeldChat): boolean =>
  (decode.atMs(updatedAt) ?? -Infinity) > (updatedAtMs ?? -Infinity)
