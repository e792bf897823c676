import { createHash } from 'node:crypto'
import type { ArchivedChat, ArchivedMessage, ArchivedObject } from '../../../archive/archived-chat.ts'
import {
  type ChatChange,
  type ChatFacts,
  type EvidenceWrite,
  type MessageDraft,
  type Root,
  type Written,
  emptyChange,
} from '../../../model/change.ts'
import { type HeldChat, findHeldChat, isMirrored, isOwn } from '../../../mirror/write/chat-columns.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import { Bars } from '../../../mirror/purge/bars.ts'
import { ARCHIVE, HUB, saveSourceState, sourceNum } from '../../../mirror/sources/sources.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { asChatId, asSourceId, asMessageId } from '../../../model/ids.ts'
import { inPortions } from '../../open-safely/whole-store.ts'
import { URGENT_MAX } from '../../source.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import type { Outline } from '../../../model/thread.ts'
import type { TrackedWrite } from '../../../model/commit.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'
import { boundJson } from '../records/json.ts'
import { UserError } from '../../../model/user-error.ts'
import {
  type MachineName,
  dropLedger,
  giveChat,
  isOfOther,
  localRootOf,
  saveLedger,
  showIfBest,
  wantBest,
} from '../../../mirror/hub/hub.ts'
import { HUB_RANK, HUB_ROOT, dropCopy } from '../../../mirror/purge/drop-chat.ts'

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
  readonly mapUri: MapUri
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
  const evidence = held?.hasProject === true ? [] : decodeEvidence(chat, mapUri)
  const paths = isNewer ? [{ chatId: id, uris: chat.paths.map(mapUri) }] : []
  const tracked = isNewer ? decodeTracked(chat) : []
  const ownRow = isNewer ? ownRowOf(object) : UNREAD
  const packed = missing.map((message) => packMessage(decodeMessage(message)))
  let added = before
  for (const [index, messages] of inPortions(
    packed,
    ({ partsJson }) => partsJson.length,
    OCTETS_MAX,
    MESSAGES_MAX,
  ).entries()) {
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

export const ownRowOf = (object: PlacedObject) => ({
  kind: 'remembered' as const,
  facts: decodeFacts(object.chat),
  outline: decodeOutline(object),
  octets: object.chat.octets,
  deletedAtMs: timeOf(object.chat.deletedAt),
})

/** Facts that a store once gave about the chat are kept; those of an older archive are replaced by those of a newer one. */
function isNews(held: HeldChat | null, { updatedAt }: ArchivedChat): boolean {
  if (held === null) return true
  const isLater = (timeOf(updatedAt) ?? -Infinity) > (held.updatedAtMs ?? -Infinity)
  return !held.isTold && (!held.isRemembered || isLater)
}

/**
 * Evidence of an archive ranks below everything that a store says now. Evidence better than a parent's place stays
 * better than it; evidence derived from a parent or from files comes last.
 */
const BEFORE_PARENT = 75
const RANKS = { strong: BEFORE_PARENT - 1, weak: 500, derived: 1000 }
const DERIVED = new Set(['parent', 'files', 'folder-hash', 'folder-name'])

/** Until the year 2223, and not before 1970, because the key of a message grows with its time. */
const LATEST_MS = 8e12

/** Epoch milliseconds; null for a time outside this range. */
export function timeOf(iso: string | null): number | null {
  const ms = iso === null ? NaN : Date.parse(iso)
  return ms > 0 && ms < LATEST_MS ? ms : null
}

/** The names of the format are those of the facts, but for times and ids. */
export const decodeFacts = ({ storeFormat, ...chat }: ArchivedChat): ChatFacts => ({
  ...chat,
  format: storeFormat,
  createdAtMs: timeOf(chat.createdAt),
  updatedAtMs: timeOf(chat.updatedAt),
  parentChatId: chat.parentChatId === null ? null : asChatId(chat.parentChatId),
  childChatIds: chat.childChatIds.map(asChatId),
})

/** A chat with the places of its messages. */
export type PlacedObject = ArchivedObject<Pick<ArchivedMessage, 'id' | 'position'>>

/**
 * The order of a chat. If Cursor gave none, its messages are ordered by time again. But if some of them had no
 * position, the positions of the others are the order.
 */
export function decodeOutline({ chat: { outline }, messages }: PlacedObject): Outline {
  if (outline !== null) {
    return outline.map(({ id, role, createdAt, startedAt }) => ({
      id: id === null ? null : asMessageId(id),
      role,
      createdAtMs: timeOf(createdAt),
      startedAtMs: timeOf(startedAt),
    }))
  }
  const placed = messages.flatMap(({ id, position }) => (position === null ? [] : { id: asMessageId(id), position }))
  if (placed.length === messages.length) return null
  placed.sort((a, b) => a.position - b.position)
  return placed.map(({ id }) => ({ id, role: null, createdAtMs: null, startedAtMs: null }))
}

/** Roots are normalised again, however the archive spells them: two names of one folder are one project. */
export function decodeEvidence(chat: ArchivedChat, mapUri: MapUri): EvidenceWrite[] {
  return chat.evidence.flatMap(({ method, rank, root }, index) => {
    const mapped = normaliseRoot(mapUri(root.uri))
    if (mapped === null || !/^[a-z-]{1,40}$/.test(method)) return []
    const known = rank < BEFORE_PARENT ? RANKS.strong : RANKS.weak
    const write = { chatId: asChatId(chat.id), method, rank: DERIVED.has(method) ? RANKS.derived : known, root: mapped }
    // The best evidence comes first, and is the newest.
    return [{ ...write, isOnly: false, notedAtMs: -index }]
  })
}

export const decodeTracked = ({ id, tracked = [] }: ArchivedChat): TrackedWrite[] =>
  tracked.flatMap(({ firstAt, lastAt, models }) => {
    const [firstAtMs, lastAtMs] = [timeOf(firstAt), timeOf(lastAt)]
    if (firstAtMs === null || lastAtMs === null) return []
    const lastUses = models.map((one) => [one.name, timeOf(one.lastAt) ?? 0] as const)
    return [{ chatId: asChatId(id), firstAtMs, lastAtMs, models: new Map(lastUses) }]
  })

export const decodeMessage = (message: ArchivedMessage): MessageDraft => ({
  ...message,
  id: asMessageId(message.id),
  alias: message.alias === null ? null : asMessageId(message.alias),
  sentAtMs: timeOf(message.sentAt),
  startedAtMs: timeOf(message.startedAt),
  timingAtMs: timeOf(message.timingAt),
  tokens: message.tokens === null ? null : recordedTokens(message.tokens.input, message.tokens.output),
  requestId: message.requestId ?? null,
  // Broken surrogate pairs are repaired.
  parts: boundJson(message.parts).value as unknown as readonly Part[],
  isEmbedded: false,
  remembered: { deletedAtMs: timeOf(message.deletedAt) },
})

/** Where a folder named in an archive is on this machine. */
export type MapUri = (uri: string) => string

/**
 * Reads a mapping of folders. It replaces whole segments of a path: `/home/a` does not affect `/home/ada`. If several
 * apply, the longest wins, and a mapped path is not mapped again.
 * @param map folders by their former names, each with its name on this machine: absolute paths or URIs
 * @throws UserError `bad-map`, exit code 2, with the reason
 */
export function readMap(map: Readonly<Record<string, string>>): MapUri {
  const rules = Object.entries(map).map(([folder, target]) => ({ from: prefixOf(folder), to: prefixOf(target) }))
  rules.sort((a, b) => b.from.length - a.from.length)
  const twice = rules.find(({ from }, index) => rules.findIndex((rule) => rule.from === from) < index)
  if (twice !== undefined) throw badMap(`The folder ${twice.from} is mapped twice.`)
  return (uri) => {
    const rule = rules.find(({ from }) => `${uri}/`.startsWith(`${from}/`))
    return rule === undefined ? uri : `${rule.to}${uri.slice(rule.from.length)}`
  }
}

/**
 * Normalised like a project's root, without a trailing slash, so that even a root folder is a prefix of everything
 * below it.
 */
function prefixOf(folder: string): string {
  const isAbsolute = /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(folder)
  const root = isAbsolute ? normaliseRoot(folder) : null
  if (root === null) throw badMap(`"${folder.slice(0, 200)}" is not an absolute path or a URI.`)
  return root.uri.replace(/\/$/, '')
}

const badMap = (text: string): UserError =>
  new UserError('bad-map', text, 'Map folders as in /Users/a=/home/b, with whole paths on both sides.', { exitCode: 2 })

/** A row of the hub, as it was read. */
export interface PulledRow {
  readonly machine: MachineName
  readonly chat: string
  readonly project: string
  readonly sequence: number
  /** The bytes of the object in base64: processes exchange JSON. */
  readonly object: string
}

type PulledObject = ArchivedObject<ReturnType<typeof packPulled>>

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
    const first = { evidence: evidenceOf(db, chat, project), tracked: decodeTracked(chat) }
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

/**
 * A message as it is written, packed while the object is read. What was pulled is not kept beside it: a chat may fill most
 * of the memory that a pull has.
 */
export function packPulled(message: ArchivedMessage, nowMs: number) {
  const { id, position, source } = message
  const atMost = notAfter(nowMs)
  const [sentAt, startedAt] = [atMost(message.sentAt), atMost(message.startedAt)]
  const [timingAt, deletedAt] = [atMost(message.timingAt), atMost(message.deletedAt)]
  const draft = decodeMessage({ ...message, sentAt, startedAt, timingAt, deletedAt })
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
    (timeOf(iso) ?? 0) > nowMs ? new Date(nowMs).toISOString() : iso

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
  return last >= 0 ? last : (timeOf(chat.updatedAt) ?? timeOf(chat.createdAt) ?? 0)
}

function inOne<Result>(db: Mirror, act: () => Result): Result {
  return db.transaction(act)()
}
