import { createHash } from 'node:crypto'
import type { ArchivedMessage, ProvenChat } from '../../../archive/record.ts'
import { dropLedger, isBetterCopy, listCopies, saveLedger, want, type LedgerRow } from '../../../mirror/hub/ledger.ts'
import { dropCopy, HUB_RANK, HUB_ROOT, readCopy } from '../../../mirror/hub/pulled-copy.ts'
import { localRootOf } from '../../../mirror/hub/own-side.ts'
import { giveChat, type MachineName } from '../../../mirror/machines/write-machines.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { HUB } from '../../../mirror/sources/source-ranks.ts'
import { saveSourceState, sourceNum } from '../../../mirror/sources/source-state.ts'
import { emptyBatch, type BatchOutcome, type EvidenceWrite, type Root } from '../../../mirror/write/batch.ts'
import { isMirrored, isPulled } from '../../../mirror/write/chats/held-chat.ts'
import { packMessage } from '../../../mirror/write/messages/pack-message.ts'
import { forgetSeenTerms } from '../../../mirror/write/write-dictionary.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { asChatId, asSourceId } from '../../../model/ids.ts'
import * as decode from './decode.ts'

const RANK = 1000

/** A row of the hub, as it was read. */
export interface PulledRow {
  readonly machine: MachineName
  readonly chat: string
  readonly project: string
  readonly sequence: number
}

/** What an object is: a chat, or why it cannot be read. */
export type PulledObject = ProvenChat | { readonly kind: 'damaged' | 'newer' }

export interface Pulled {
  readonly outcome: BatchOutcome | null
  /** True if another machine's copy has to be fetched instead. */
  readonly wantsOther: boolean
}

/**
 * Takes one row of the hub: its object replaces the pulled copy of its chat whole, and its line in the ledger moves in the
 * same transaction. A chat of this machine, a purged one and one of which another machine has a better copy stay out.
 */
export async function takePulled(
  mirror: () => Mirror,
  row: PulledRow,
  object: PulledObject,
  { nowMs, isIndexedLater }: { readonly nowMs: number; readonly isIndexedLater: boolean },
): Promise<Pulled> {
  const line = {
    machine: row.machine.uuid,
    chat: row.chat,
    project: row.project,
    sequence: row.sequence,
    activity: null,
    messages: null,
  }
  const aside = (state: LedgerRow['state']): Pulled => inOne(mirror(), (db) => putAside(db, { ...line, state }))
  if (object.kind !== 'sound' || object.chat.id !== row.chat) {
    return aside(object.kind === 'newer' ? 'newer' : 'damaged')
  }
  const id = asChatId(row.chat)
  if (isMirrored(mirror(), id) && !isPulled(mirror(), id)) return aside('hidden')
  if (new Tombstones(mirror()).hasChat(id)) return aside('barred')
  const messages: ArchivedMessage[] = []
  for await (const message of object.messages()) messages.push(message)
  const shown = { ...line, state: 'shown', activity: activityOf(object, messages), messages: messages.length } as const
  return inOne(mirror(), (db) => {
    const rival = bestRival(db, shown)
    if (rival !== null && isBetterCopy(rival, shown)) return putAside(db, { ...shown, state: 'other' })
    for (const other of listCopies(db, row.chat))
      if (other.state === 'shown') saveLedger(db, { ...other, state: 'other' })
    saveLedger(db, shown)
    return { outcome: replaceCopy(db, row, object, messages, { nowMs, isIndexedLater }), wantsOther: false }
  })
}

/** Removes the row of a chat that is no longer at the hub, or that may no longer be read. */
export const dropPulled = (db: Mirror, machine: string, chat: string): Pulled =>
  inOne(db, () => {
    const copies = listCopies(db, chat)
    const wasShown = copies.some((copy) => copy.machine === machine && copy.state === 'shown')
    dropLedger(db, machine, chat)
    if (wasShown) dropCopy(db, chat, true)
    return { outcome: null, wantsOther: wasShown && fetchBest(db, chat) }
  })

/** Notes a row of which no copy is shown. If its former copy was, the next best one takes its place. */
function putAside(db: Mirror, line: LedgerRow): Pulled {
  const wasShown = listCopies(db, line.chat).some(({ machine, state }) => machine === line.machine && state === 'shown')
  saveLedger(db, line)
  if (!wasShown) return { outcome: null, wantsOther: false }
  dropCopy(db, line.chat, true)
  return { outcome: null, wantsOther: fetchBest(db, line.chat) }
}

function fetchBest(db: Mirror, chat: string): boolean {
  const [first, ...others] = listCopies(db, chat).filter(({ state }) => state === 'other')
  if (first === undefined) return false
  const best = others.reduce((one, other) => (isBetterCopy(other, one) ? other : one), first)
  want(db, best.machine, chat)
  return true
}

function bestRival(db: Mirror, { machine, chat }: LedgerRow): LedgerRow | null {
  const rivals = listCopies(db, chat).filter(
    (copy) => copy.machine !== machine && (copy.state === 'shown' || copy.state === 'other'),
  )
  return rivals.reduce<LedgerRow | null>((best, one) => (best === null || isBetterCopy(one, best) ? one : best), null)
}

function replaceCopy(
  db: Mirror,
  { machine, project, chat: chatId }: PulledRow,
  { chat, places }: ProvenChat,
  messages: readonly ArchivedMessage[],
  { nowMs, isIndexedLater }: { readonly nowMs: number; readonly isIndexedLater: boolean },
): BatchOutcome {
  const id = asChatId(chatId)
  const before = readCopy(db, chatId)
  const now = new Set(messages.map((message) => message.id))
  if (before !== null)
    dropCopy(
      db,
      chatId,
      [...before].some((message) => !now.has(message)),
    )
  const facts = decode.decodeFacts(chat)
  const outline = decode.decodeOutline(chat, places)
  const deletedAtMs = decode.atMs(chat.deletedAt)
  const { octets } = chat
  // As it is where it comes from: what was not deleted there is not a loss here.
  const ownRow =
    deletedAtMs === null
      ? ({ kind: 'read', facts, outline, octets, embeddedIds: new Set<never>() } as const)
      : ({ kind: 'remembered', facts, outline, octets, deletedAtMs } as const)
  const kinds = [...new Set([chat.source, ...messages.map((message) => message.source)])]
  const outcomes = kinds.map((kind, at) => {
    const source = sourceNum(db, sourceOf(kind))
    saveSourceState(db, source, 'ok', null, nowMs)
    const ofKind = messages.filter((message) => message.source === kind)
    const write = { id, vanished: [], messages: ofKind.map((message) => packMessage(asItIs(message))) }
    const first = { evidence: evidenceOf(db, chat, project), tracked: decode.decodeTracked(chat) }
    return writeBatch(db, {
      ...emptyBatch,
      source,
      nowMs,
      chats: [{ ...write, ownRow: at === 0 ? ownRow : ({ kind: 'unread' } as const) }],
      ...(at === 0 ? first : {}),
      isIndexedLater,
    })
  })
  // The chat of an excluded project is not written.
  if (isMirrored(db, id)) giveChat(db, id, machine)
  return outcomes.reduce((sum, one) => ({
    ...sum,
    added: sum.added + one.added,
    messages: [...sum.messages, ...one.messages],
  }))
}

const asItIs = (message: ArchivedMessage): ReturnType<typeof decode.decodeMessage> => {
  const draft = decode.decodeMessage(message)
  return message.deletedAt === null ? { ...draft, remembered: null } : draft
}

/** The machine says which project the chat belongs to. Here it is the local project of that name, or one made for it. */
function evidenceOf(db: Mirror, chat: ProvenChat['chat'], project: string): EvidenceWrite[] {
  const [given] = chat.evidence
  if (given === undefined) return []
  const made: Root = { ...given.root, uri: `${HUB_ROOT}${encodeURIComponent(project)}` }
  const root = localRootOf(db, project) ?? made
  return [{ chatId: asChatId(chat.id), method: given.method, rank: HUB_RANK, root, isOnly: true }]
}

/** When the chat last went on, epoch milliseconds. */
function activityOf({ chat }: ProvenChat, messages: readonly ArchivedMessage[]): number {
  let last = -1
  for (const { sentAt, startedAt, timingAt } of messages) {
    last = Math.max(last, decode.atMs(sentAt) ?? decode.atMs(startedAt) ?? decode.atMs(timingAt) ?? -1)
  }
  return last >= 0 ? last : (decode.atMs(chat.updatedAt) ?? decode.atMs(chat.createdAt) ?? 0)
}

/** One source for each kind of store that pulled chats were read from. */
function sourceOf(kind: string) {
  const id = createHash('sha256').update(`${HUB}\0${kind}`).digest('hex').slice(0, 16)
  return { id: asSourceId(id), kind: HUB, path: kind, rank: RANK }
}

function inOne<Result>(db: Mirror, act: (db: Mirror) => Result): Result {
  try {
    return db.transaction(() => act(db))()
  } catch (error) {
    // Terms that were listed in it are no longer listed.
    forgetSeenTerms(db)
    throw error
  }
}
