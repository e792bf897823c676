import { crc32 } from 'node:zlib'
import type { ChatMetadata, EvidenceWrite } from '../../../model/change.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Piece } from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/find-root.ts'
import type { EvidenceMethod } from '../../projects/root-uri.ts'
import { decodeHead, readFlag, isAlternative } from '../records/chat.ts'
import {
  type JsonRecord,
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  listIn,
  parseRow,
  readFileUri,
  readTime,
  readUri,
  readDraftTarget,
  readWorkspaceUri,
  recordIn,
  wellFormed,
} from '../records/json.ts'
import type { RootOf } from '../records/user-folder.ts'
import type { ItemContent } from './decode-items.ts'
import { VALUE_OCTETS_MAX, type HeadRow } from './read.ts'

/** The chats of a list, `{allComposers: […]}` or an array. Null if the value is neither. */
export function listComposers(value: unknown) {
  const data = asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : listIn(data, 'allComposers')
  return entries.map((element) => {
    const entry = asRecord(element)
    const id = filledStringIn(entry, 'composerId')
    return { entry, chatId: id === null ? null : asChatId(id) }
  })
}

/** The list of heads. If a chat has two heads, the first is used. */
export function decodeHeadList(value: unknown): Pick<ItemContent, 'metadata' | 'evidence'> | null {
  const entries = listComposers(value)
  if (entries === null) return null
  const metadata = new Map<ChatId, ChatMetadata>()
  const evidence: EvidenceWrite[] = []
  for (const { entry, chatId } of entries) {
    if (entry === null || chatId === null || metadata.has(chatId)) continue
    metadata.set(chatId, decodeHead(entry, chatId, 'header-list'))
    evidence.push(...headEvidence(entry, chatId, 'header-list'))
  }
  return { metadata: [...metadata.values()], evidence }
}

/** The two lists contain the same heads; each list's name is also the method of its evidence. */
type HeadList = Extract<EvidenceMethod, 'header-list' | 'header-table'>

/**
 * Where the chat belongs according to its head; otherwise where its agent works, which heads of recent builds contain.
 */
function headEvidence(head: JsonRecord, chatId: ChatId, list: HeadList): readonly EvidenceWrite[] {
  const place = recordIn(recordIn(head, 'agentLocation'), 'environment')
  const uri = readWorkspaceUri(head) ?? readFileUri(place?.['uri']) ?? readDraftTarget(head)
  return uri === null ? [] : weighEvidence(chatId, [{ method: list, uri }], { isOnly: true })
}

/** The key of the only piece, which is also the table's name. */
const PIECE = 'composerHeaders'

/** The table of heads, as one piece. An unreadable row does not affect other rows. */
export function decodeHeadTable(rows: readonly HeadRow[], rootOf: RootOf): Piece {
  const decoded = rows.map((row) => decodeHeadRow(row, rootOf))
  const evidence = decoded.flatMap((row) => row.evidence)
  return {
    key: PIECE,
    octets: rows.reduce((sum, row) => sum + row.octets, 0),
    checksum: crc32(JSON.stringify(evidence.map(({ root }) => root.uri)), checksumOf(rows)),
    chats: [],
    metadata: decoded.flatMap(({ head }) => head ?? []),
    evidence,
    issue: decoded.find(({ issue }) => issue !== null)?.issue ?? null,
  }
}

function decodeHeadRow(
  row: HeadRow,
  rootOf: RootOf,
): {
  readonly head: ChatMetadata | null
  readonly evidence: readonly EvidenceWrite[]
  readonly issue: IssueReason | null
} {
  const isTooLarge = row.value === null && row.octets > VALUE_OCTETS_MAX
  const parsed = row.value === null ? null : parseRow(row.value)
  const record: JsonRecord = parsed?.kind === 'record' ? parsed.record : {}
  const issue = parsed?.kind === 'issue' ? parsed.reason : isTooLarge ? 'too-large' : null
  const id = filledString(row.composerId) ?? filledStringIn(record, 'composerId')
  if (id === null) return { head: null, evidence: [], issue }
  const chatId = asChatId(id)
  const head = withColumns(decodeHead(record, chatId, 'header-table'), row, record)
  const evidence = headEvidence(record, chatId, 'header-table')
  return { head, evidence: evidence.length > 0 ? evidence : columnEvidence(row, chatId, rootOf), issue }
}

/** The column contains only a workspace's id; the root comes from that workspace's folder. */
function columnEvidence({ workspaceId }: HeadRow, chatId: ChatId, rootOf: RootOf): readonly EvidenceWrite[] {
  const id = filledString(workspaceId)
  const uri = id === null ? null : rootOf(id)
  return uri === null ? [] : weighEvidence(chatId, [{ method: 'header-table', uri }], { isOnly: true })
}

/** The columns are written with every change, the value only now and then. */
function withColumns(head: ChatMetadata, row: HeadRow, record: JsonRecord): ChatMetadata {
  return {
    ...head,
    createdAtMs: readTime(row.createdAt) ?? head.createdAtMs,
    // Some rows have no time of their last change; then the time by which they are sorted is used.
    updatedAtMs: readTime(row.lastUpdatedAt) ?? head.updatedAtMs ?? readTime(row.recency),
    isArchived: readFlag(row.isArchived) ?? head.isArchived,
    isSubagent: head.isSubagent ?? (isAlternative(record) ? null : readFlag(row.isSubagent)),
  }
}

function checksumOf(rows: readonly HeadRow[]): number {
  return rows.reduce((sum, { value, ...columns }) => {
    const named = crc32(Object.values(columns).map(String).join('\0'), sum)
    return value === null ? named : crc32(value, named)
  }, 0)
}

/** The projects in the sidebar, by id: an array of objects with an `id`, or an object with the ids as keys. */
export function decodeProjects(value: unknown): ReadonlyMap<string, string> {
  const entries = entriesOf(value).flatMap(([key, entry]) => {
    const project = asRecord(entry)
    const id = filledStringIn(project, 'id') ?? key
    const uri = project === null ? null : readProjectUri(project)
    return id === null || uri === null ? [] : [[id, uri] as const]
  })
  return new Map(entries)
}

/** The project of each chat: an object with the chats' ids as keys, or an array of pairs. */
export function decodeMembership(value: unknown): ReadonlyMap<ChatId, string> {
  const entries = entriesOf(value).flatMap(([key, entry]) => {
    const pair = asRecord(entry)
    const id = firstFilledIn(pair, ['composerId', 'agentId', 'id']) ?? key
    const project = filledString(entry) ?? firstFilledIn(pair, ['projectId', 'localAgentProjectId'])
    return id === null || project === null ? [] : [[asChatId(id), project] as const]
  })
  return new Map(entries)
}

/** Combines the two: neither says anything alone. */
export function placeMembers(
  membership: ReadonlyMap<ChatId, string>,
  projects: ReadonlyMap<string, string>,
): EvidenceWrite[] {
  return [...membership].flatMap(([chatId, project]) => {
    const uri = projects.get(project)
    return uri === undefined ? [] : weighEvidence(chatId, [{ method: 'agent-project', uri }], { isOnly: true })
  })
}

/** The entries of an array, or of an object with their keys. */
const entriesOf = (value: unknown): readonly (readonly [key: string | null, entry: unknown])[] =>
  Array.isArray(value)
    ? value.map((entry: unknown) => [null, entry])
    : Object.entries(asRecord(value) ?? {}).map(([key, entry]) => [wellFormed(key), entry])

function readProjectUri(project: JsonRecord): string | null {
  const workspace = recordIn(project, 'workspace')
  return (
    readUri(workspace?.['uri']) ??
    readUri(workspace?.['configPath']) ??
    readFileUri(project['workspace']) ??
    readFileUri(project['uri'])
  )
}
