import type { ArchivedChat, ArchivedMessage, ArchivedObject } from '../../../archive/archived-chat.ts'
import type { ChatFacts, EvidenceWrite, MessageDraft } from '../../../model/change.ts'
import { asChatId, asMessageId } from '../../../model/ids.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import type { Outline } from '../../../model/thread.ts'
import type { TrackedWrite } from '../../../model/commit.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'
import { boundJson } from '../records/json.ts'
import { UserError } from '../../../model/user-error.ts'

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
export function atMs(iso: string | null): number | null {
  const ms = iso === null ? NaN : Date.parse(iso)
  return ms > 0 && ms < LATEST_MS ? ms : null
}

/** The names of the format are those of the facts, but for times and ids. */
export const decodeFacts = ({ storeFormat, ...chat }: ArchivedChat): ChatFacts => ({
  ...chat,
  format: storeFormat,
  createdAtMs: atMs(chat.createdAt),
  updatedAtMs: atMs(chat.updatedAt),
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
      createdAtMs: atMs(createdAt),
      startedAtMs: atMs(startedAt),
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
    const [firstAtMs, lastAtMs] = [atMs(firstAt), atMs(lastAt)]
    if (firstAtMs === null || lastAtMs === null) return []
    const lastUses = models.map((one) => [one.name, atMs(one.lastAt) ?? 0] as const)
    return [{ chatId: asChatId(id), firstAtMs, lastAtMs, models: new Map(lastUses) }]
  })

export const decodeMessage = (message: ArchivedMessage): MessageDraft => ({
  ...message,
  id: asMessageId(message.id),
  alias: message.alias === null ? null : asMessageId(message.alias),
  sentAtMs: atMs(message.sentAt),
  startedAtMs: atMs(message.startedAt),
  timingAtMs: atMs(message.timingAt),
  tokens: message.tokens === null ? null : recordedTokens(message.tokens.input, message.tokens.output),
  requestId: message.requestId ?? null,
  // Broken surrogate pairs are repaired.
  parts: boundJson(message.parts).value as unknown as readonly Part[],
  isEmbedded: false,
  remembered: { deletedAtMs: atMs(message.deletedAt) },
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
