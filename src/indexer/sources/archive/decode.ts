import type { ArchivedChat, ArchivedMessage, ArchivedPlace } from '../../../archive/record.ts'
import type { ChatFacts, EvidenceWrite, MessageDraft, PathsWrite } from '../../../mirror/write/batch.ts'
import { asChatId, asMessageId } from '../../../model/ids.ts'
import { recordedTokens } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import type { Outline, OutlineEntry } from '../../../model/thread.ts'
import type { TrackedWrite } from '../../../model/commit.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'
import { boundJson } from '../records/json/bound-json.ts'
import type { MapUri } from './map-uri.ts'

/**
 * Evidence of an archive stands behind all that a store says now. What was better than belonging to a parent stays so;
 * what was only derived from it, or from files, comes last.
 */
const BEFORE_PARENT = 75
const RANKS = { strong: BEFORE_PARENT - 1, weak: 500, derived: 1000 }
const DERIVED = new Set(['parent', 'files', 'folder-hash'])

/** Until the year 2223, and not before 1970: keys grow with the time of their message. */
const LATEST_MS = 8e12

/** Epoch milliseconds; null for what is no moment at which Cursor existed. */
export function atMs(iso: string | null): number | null {
  const ms = iso === null ? NaN : Date.parse(iso)
  return ms > 0 && ms < LATEST_MS ? ms : null
}

export function decodeFacts(chat: ArchivedChat): ChatFacts {
  return {
    format: chat.storeFormat,
    name: chat.name,
    summary: chat.summary,
    todos: chat.todos,
    createdAtMs: atMs(chat.createdAt),
    updatedAtMs: atMs(chat.updatedAt),
    mode: chat.mode,
    branch: chat.branch,
    model: chat.model,
    status: chat.status,
    isArchived: chat.isArchived,
    isDraft: chat.isDraft,
    isSubagent: chat.isSubagent,
    parentChatId: chat.parentChatId === null ? null : asChatId(chat.parentChatId),
    childChatIds: chat.childChatIds.map(asChatId),
    linesAdded: chat.linesAdded,
    linesRemoved: chat.linesRemoved,
    filesChanged: chat.filesChanged,
    contextTokens: chat.contextTokens,
    recordedCostCents: chat.recordedCostCents,
  }
}

/**
 * The order of a chat. Where Cursor gave none, its messages stand by time again; but where some of them stood in no
 * place, the places of the others are the order.
 */
export function decodeOutline({ outline }: ArchivedChat, places: readonly ArchivedPlace[]): Outline {
  if (outline !== null) {
    return outline.map(({ id, role, createdAt, startedAt }) => ({
      id: id === null ? null : asMessageId(id),
      role,
      createdAtMs: atMs(createdAt),
      startedAtMs: atMs(startedAt),
    }))
  }
  if (places.every(({ position }) => position !== null)) return null
  const placed = places.filter(({ position }) => position !== null)
  placed.sort((a, b) => (a.position ?? 0) - (b.position ?? 0))
  return placed.map(({ id }): OutlineEntry => ({
    id: asMessageId(id),
    role: null,
    createdAtMs: null,
    startedAtMs: null,
  }))
}

/** Roots are spelt anew, whatever the archive calls them: two names for one folder are one project. */
export function decodeEvidence(chat: ArchivedChat, mapUri: MapUri): EvidenceWrite[] {
  return chat.evidence.flatMap(({ method, rank, root }, index) => {
    const mapped = normaliseRoot(mapUri(root.uri))
    if (mapped === null || !/^[a-z-]{1,40}$/.test(method)) return []
    const known = rank < BEFORE_PARENT ? RANKS.strong : RANKS.weak
    const write = { chatId: asChatId(chat.id), method, rank: DERIVED.has(method) ? RANKS.derived : known, root: mapped }
    // The best reason comes first, and is the newest.
    return [{ ...write, isOnly: false, notedAtMs: -index }]
  })
}

/** All that a mapping of folders may fit. */
export const urisOf = ({ evidence, paths }: ArchivedChat): readonly string[] => [
  ...evidence.map(({ root }) => root.uri),
  ...paths,
]

export const decodePaths = ({ id, paths }: ArchivedChat, mapUri: MapUri): PathsWrite => ({
  chatId: asChatId(id),
  uris: paths.map(mapUri),
})

export const decodeTracked = ({ id, tracked = [] }: ArchivedChat): TrackedWrite[] =>
  tracked.flatMap(({ firstAt, lastAt, models }) => {
    const [firstAtMs, lastAtMs] = [atMs(firstAt), atMs(lastAt)]
    if (firstAtMs === null || lastAtMs === null) return []
    return [
      {
        chatId: asChatId(id),
        firstAtMs,
        lastAtMs,
        models: new Map(models.map((one) => [one.name, atMs(one.lastAt) ?? 0])),
      },
    ]
  })

export function decodeMessage(message: ArchivedMessage): MessageDraft {
  return {
    id: asMessageId(message.id),
    alias: message.alias === null ? null : asMessageId(message.alias),
    role: message.role,
    sentAtMs: atMs(message.sentAt),
    startedAtMs: atMs(message.startedAt),
    timingAtMs: atMs(message.timingAt),
    model: message.model,
    tokens: message.tokens === null ? null : recordedTokens(message.tokens.input, message.tokens.output),
    // As deep as its line may be, and mended where somebody put half a character into it.
    parts: boundJson(message.parts).value as unknown as readonly Part[],
    isSimulated: message.isSimulated,
    octets: message.octets,
    isEmbedded: false,
    remembered: { deletedAtMs: atMs(message.deletedAt) },
  }
}
