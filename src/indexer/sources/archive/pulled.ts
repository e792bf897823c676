import { createHash } from 'node:crypto'
import type { ArchivedMessage, ArchivedObject } from '../../../archive/archived-chat.ts'
import { bestMachine, dropLedger, isShown, saveLedger, showCopy, wantBest } from '../../../mirror/hub/ledger.ts'
import { dropCopy, HUB_RANK, HUB_ROOT } from '../../../mirror/hub/pulled-copy.ts'
import { localRootOf } from '../../../mirror/hub/own-side.ts'
import { giveChat, type MachineName } from '../../../mirror/machines/write-machines.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { HUB, saveSourceState, sourceNum } from '../../../mirror/sources/sources.ts'
import { emptyChange, type Written, type EvidenceWrite, type Root } from '../../../model/change.ts'
import { isMirrored, isOwn } from '../../../mirror/write/chat-columns.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import { forgetSeenTerms } from '../../../mirror/fulltext/terms.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { asChatId, asSourceId } from '../../../model/ids.ts'
import * as decode from './decode.ts'

const RANK = 1000

/** A row of the hub, as it was read. */
export interface PulledRow {
  readonly machine: MachineName
  readonly chat: string
  readonly project: string
  readonly sequence: number
  /** The bytes of the object in base64: processes exchange JSON. */
  readonly object: string
}

export interface Pulled {
  readonly outcome: Written | null
  /** True if another machine's copy has to be fetched instead. */
  readonly wantsOther: boolean
}

/**
 * Takes one row of the hub: its object replaces the pulled copy of its chat whole, and its line in the ledger moves in the
 * same transaction. A chat of this machine, a purged one and one of which another machine has a better copy stay out.
 * @param read null if the object cannot be read
 */
export const takePulled = (db: Mirror, row: PulledRow, read: ArchivedObject | null, nowMs: number): Pulled =>
  inOne(db, () => {
    const { chat, project, sequence } = row
    const machine = row.machine.uuid
    const wasShown = isShown(db, machine, chat)
    const object = read?.chat.id === chat ? read : null
    const found =
      object === null
        ? ({ state: 'damaged', activity: null, messages: null } as const)
        : ({ state: 'other', activity: activityOf(object), messages: object.messages.length } as const)
    saveLedger(db, { machine, chat, project, sequence, ...found })
    if (isOwn(db, asChatId(chat))) return { outcome: null, wantsOther: false }
    if (object === null || bestMachine(db, chat) !== machine) {
      return { outcome: null, wantsOther: wasShown && dropShown(db, chat) }
    }
    showCopy(db, machine, chat)
    return { outcome: replaceCopy(db, row, object, nowMs), wantsOther: false }
  })

/**
 * Removes the row of a chat that is no longer at the hub, or that may no longer be read.
 * @returns true if another machine's copy has to be fetched instead
 */
export const dropPulled = (db: Mirror, machine: string, chat: string): boolean =>
  inOne(db, () => {
    const wasShown = isShown(db, machine, chat)
    dropLedger(db, machine, chat)
    return wasShown && dropShown(db, chat)
  })

/** Removes the copy that was shown. The next best one takes its place when it was fetched again. */
function dropShown(db: Mirror, chat: string): boolean {
  dropCopy(db, chat)
  return wantBest(db, chat)
}

function replaceCopy(db: Mirror, row: PulledRow, object: ArchivedObject, nowMs: number): Written {
  const { machine, project } = row
  const { chat, messages } = object
  const id = asChatId(row.chat)
  dropCopy(db, id, new Set(messages.map((message) => message.id)))
  const facts = decode.decodeFacts(chat)
  const outline = decode.decodeOutline(object)
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
    return writeChange(db, {
      ...emptyChange,
      source,
      nowMs,
      chats: [{ ...write, ownRow: at === 0 ? ownRow : ({ kind: 'unread' } as const) }],
      ...(at === 0 ? first : {}),
      isIndexedLater: true,
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
function evidenceOf(db: Mirror, chat: ArchivedObject['chat'], project: string): EvidenceWrite[] {
  const [given] = chat.evidence
  if (given === undefined) return []
  const made: Root = { ...given.root, uri: `${HUB_ROOT}${encodeURIComponent(project)}` }
  const root = localRootOf(db, project) ?? made
  return [{ chatId: asChatId(chat.id), method: given.method, rank: HUB_RANK, root, isOnly: true }]
}

/** When the chat last went on, epoch milliseconds. */
function activityOf({ chat, messages }: ArchivedObject): number {
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

function inOne<Result>(db: Mirror, act: () => Result): Result {
  try {
    return db.transaction(act)()
  } catch (error) {
    // Terms that were listed in it are no longer listed.
    forgetSeenTerms(db)
    throw error
  }
}
