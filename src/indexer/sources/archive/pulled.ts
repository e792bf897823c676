import type { ArchivedChat, ArchivedMessage, ArchivedObject } from '../../../archive/archived-chat.ts'
import {
  dropLedger,
  giveChat,
  isOfOther,
  type MachineName,
  saveLedger,
  showIfBest,
  wantBest,
} from '../../../mirror/hub/hub.ts'
import { dropCopy, HUB_RANK, HUB_ROOT } from '../../../mirror/purge/drop-chat.ts'
import { localRootOf } from '../../../mirror/hub/hub.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { HUB } from '../../../mirror/sources/sources.ts'
import {
  type ChatChange,
  emptyChange,
  type Written,
  type EvidenceWrite,
  type MessageWrite,
  type Root,
} from '../../../model/change.ts'
import { isMirrored, isOwn } from '../../../mirror/write/chat-columns.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { asChatId } from '../../../model/ids.ts'
import * as decode from './decode.ts'
import { ownRowOf, sourceOf } from './index.ts'

/** A row of the hub, as it was read. */
export interface PulledRow {
  readonly machine: MachineName
  readonly chat: string
  readonly project: string
  readonly sequence: number
  /** The bytes of the object in base64: processes exchange JSON. */
  readonly object: string
}

/** A message as it is written. What was pulled is not kept beside it: a chat may fill most of the memory that a pull has. */
interface PulledMessage extends Pick<ArchivedMessage, 'id' | 'position' | 'source'> {
  /** Epoch milliseconds. */
  readonly atMs: number | null
  readonly packed: MessageWrite
}

type PulledObject = ArchivedObject<PulledMessage>

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
export const takePulled = (db: Mirror, row: PulledRow, read: PulledObject | null, nowMs: number): Pulled =>
  inOne(db, () => {
    const { chat, project, sequence } = row
    const machine = row.machine.uuid
    const isFit = read?.chat.id === chat && hasFewKinds(read)
    const object = isFit ? { ...read, chat: withoutFuture(read.chat, nowMs) } : null
    const found =
      object === null
        ? ({ state: 'damaged', activity: null, messages: null } as const)
        : ({ state: 'other', activity: activityOf(object), messages: object.messages.length } as const)
    const wasShown = saveLedger(db, { machine, chat, project, sequence, ...found })
    if (isOwn(db, asChatId(chat))) return { outcome: null, wantsOther: false }
    if (object === null || showIfBest(db, { machine, chat }) === 0) {
      return { outcome: null, wantsOther: wasShown && dropShown(db, chat) }
    }
    return { outcome: replaceCopy(db, row, object, nowMs), wantsOther: false }
  })

/**
 * Removes the row of a chat that is no longer at the hub, or that may no longer be read.
 * @returns true if another machine's copy has to be fetched instead
 */
export const dropPulled = (db: Mirror, machine: string, chat: string): boolean =>
  inOne(db, () => dropLedger(db, machine, chat) && dropShown(db, chat))

/** Removes the copy that was shown. The next best one takes its place when it was fetched again. */
function dropShown(db: Mirror, chat: string): boolean {
  dropCopy(db, chat)
  return wantBest(db, { chat }) > 0
}

function replaceCopy(db: Mirror, row: PulledRow, object: PulledObject, nowMs: number): Written {
  const { machine, project } = row
  const { chat, messages } = object
  const id = asChatId(row.chat)
  dropCopy(db, id, new Set(messages.map((message) => message.id)))
  const childChatIds = chat.childChatIds.filter((child) => !isOfOther(db, child, machine.uuid))
  const { deletedAtMs, ...told } = ownRowOf({ ...object, chat: { ...chat, childChatIds } })
  // As it is where it comes from: what was not deleted there is not a loss here.
  const ownRow: ChatChange['ownRow'] =
    deletedAtMs === null ? { ...told, kind: 'read', embeddedIds: new Set<never>() } : { ...told, deletedAtMs }
  const kinds = kindsOf(object)
  const outcomes = kinds.map((kind, at) => {
    const ofKind = messages.filter(({ source }) => source === kind).map(({ packed }) => packed)
    const first = { evidence: evidenceOf(db, chat, project), tracked: decode.decodeTracked(chat) }
    return writeChange(db, {
      ...emptyChange,
      source: sourceOf(db, HUB, kind, nowMs),
      nowMs,
      chats: [{ id, vanished: [], messages: ofKind, ownRow: at === 0 ? ownRow : { kind: 'unread' } }],
      ...(at === 0 ? first : {}),
      isUrgent: false,
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

/** Kinds of the stores that it comes from, the chat's own first. */
const kindsOf = ({ chat, messages }: PulledObject): readonly string[] => [
  ...new Set([chat.source, ...messages.map(({ source }) => source)]),
]

/** Each kind becomes a source of the mirror, which stays, and there are about ten. */
const hasFewKinds = (object: PulledObject): boolean =>
  kindsOf(object).length <= 20 && kindsOf(object).every((kind) => /^[\w-]{1,40}$/.test(kind))

/** What is written of a message. It is done while the object is read. */
export function packPulled(message: ArchivedMessage, nowMs: number): PulledMessage {
  const { id, position, source } = message
  const atMost = notAfter(nowMs)
  const [sentAt, startedAt] = [atMost(message.sentAt), atMost(message.startedAt)]
  const [timingAt, deletedAt] = [atMost(message.timingAt), atMost(message.deletedAt)]
  const draft = decode.decodeMessage({ ...message, sentAt, startedAt, timingAt, deletedAt })
  const atMs = draft.sentAtMs ?? draft.startedAtMs ?? draft.timingAtMs
  return {
    id,
    position,
    source,
    atMs,
    packed: packMessage(deletedAt === null ? { ...draft, remembered: null } : draft),
  }
}

/** A time after now counts as now: whoever pushed it must not stand before all others until then. */
const notAfter =
  (nowMs: number) =>
  (iso: string | null): string | null =>
    (decode.atMs(iso) ?? 0) > nowMs ? new Date(nowMs).toISOString() : iso

function withoutFuture(chat: ArchivedChat, nowMs: number): ArchivedChat {
  const atMost = notAfter(nowMs)
  const { outline, tracked } = chat
  return {
    ...chat,
    createdAt: atMost(chat.createdAt),
    updatedAt: atMost(chat.updatedAt),
    deletedAt: atMost(chat.deletedAt),
    outline:
      outline?.map((entry) => ({
        ...entry,
        createdAt: atMost(entry.createdAt),
        startedAt: atMost(entry.startedAt),
      })) ?? null,
    ...(tracked === undefined ? {} : { tracked: tracked.filter(({ lastAt }) => atMost(lastAt) === lastAt) }),
  }
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
function activityOf({ chat, messages }: PulledObject): number {
  let last = -1
  for (const { atMs } of messages) last = Math.max(last, atMs ?? -1)
  return last >= 0 ? last : (decode.atMs(chat.updatedAt) ?? decode.atMs(chat.createdAt) ?? 0)
}

function inOne<Result>(db: Mirror, act: () => Result): Result {
  return db.transaction(act)()
}
