import { hash as digest } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ChatMetadata, EvidenceWrite, MessageDraft } from '../../../model/change.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { weighEvidence, type EvidenceMethod } from '../../projects/root-uri.ts'
import * as composer from '../records/chat.ts'
import * as json from '../records/json.ts'
import type { JsonRecord } from '../records/json.ts'
import { decodeMessageRecord } from '../records/message.ts'

/**
 * The items that are read, by exact name. The table also contains tokens, keys and settings, so nothing in it is ever
 * selected by a pattern, but for the panes of a workspace's window.
 */
export const itemKeys = {
  list: 'composer.composerHeaders',
  projects: 'glass.localAgentProjects.v1',
  membership: 'glass.localAgentProjectMembership.v1',
  composers: 'composer.composerData',
  prompts: 'aiService.prompts',
  pane: 'workbench.panel.composerChatViewPane',
} as const

/** An item as it was read. `value` is null if it is too large. */
export interface RawItem {
  readonly key: string
  readonly octets: number
  readonly value: Buffer | null
}

/** The columns of the table of heads. Which exist, and in which order, differs by version. */
export const headColumns = [
  'composerId',
  'workspaceId',
  'createdAt',
  'lastUpdatedAt',
  'isArchived',
  'isSubagent',
  'recency',
] as const

/** Null if the column is missing. Any column can have any value. `workspaceId` is the id of a workspace and nothing else. */
export type HeadRow = Readonly<Record<(typeof headColumns)[number], unknown>> & {
  readonly octets: number
  /** Null if the column is NULL, or the value too large; `octets` distinguishes the two. */
  readonly value: Buffer | null
}

/**
 * The root of a workspace folder: `folder`, or for several folders the `.code-workspace` file under `workspace`
 * (`configuration` in old versions). That file is never opened: it may be on another machine, and the workspace is one
 * project whatever it lists. Null if no root is named.
 */
export function decodeWorkspaceRoot(text: string): string | null {
  return json.firstFilledIn(json.asRecord(json.parseJson(text)?.value), ['folder', 'workspace', 'configuration'])
}

export interface Workspace {
  /** The name of its folder. */
  readonly id: string
  readonly rootUri: string | null
}

/** The content of one item, before the workspace's root is added. */
export interface ItemContent {
  readonly chats: readonly WholeChat[]
  readonly metadata: readonly ChatMetadata[]
  /** Chats that were open in this workspace's window; they may belong to another workspace. */
  readonly openTabs: readonly ChatId[]
  /** Where chats belong according to their own records, or to a list. */
  readonly evidence: readonly EvidenceWrite[]
  /** Why a part could not be read; everything else was decoded. */
  readonly issue: IssueReason | null
}

const emptyItem: ItemContent = { chats: [], metadata: [], openTabs: [], evidence: [], issue: null }

/**
 * The items of a store, one piece each. Total: any bytes become chats, heads, evidence, nothing, or an issue.
 * @param workspace null for the global store
 */
export function decodeItems(items: readonly RawItem[], workspace: Workspace | null): Piece[] {
  const parsed = items.map((item) => ({ item, ...parseItem(item) }))
  const valueOf = (key: string): unknown => parsed.find(({ item }) => item.key === key)?.value
  const projects = decodeProjects(valueOf(itemKeys.projects))
  // Neither of the two says anything alone.
  const members = [...decodeMembership(valueOf(itemKeys.membership))].flatMap(([chatId, project]) => {
    const uri = projects.get(project)
    return uri === undefined ? [] : weighEvidence(chatId, [{ method: 'agent-project', uri }], { isOnly: true })
  })
  const rootUri = workspace?.rootUri ?? null
  const pieces = parsed.map(({ item: { key, octets, value: bytes }, value, issue }) => {
    const decoded = issue === null ? decodeValue(key, value, members, workspace) : { issue }
    const { chats, metadata, openTabs, ...content } = {
      ...emptyItem,
      ...(decoded ?? { issue: 'not-an-object' as const }),
    }
    const evidence = [...content.evidence, ...weighItem({ chats, metadata, openTabs }, rootUri)]
    // It includes the root: an unchanged item places its chats elsewhere when `workspace.json` changes.
    const checksum = bytes === null ? null : crc32(bytes, crc32(rootUri ?? ''))
    return { key, octets, checksum, chats, metadata, evidence, issue: content.issue }
  })
  return composer.eachChatOnce(pieces)
}

function parseItem({ value }: RawItem): { readonly value: unknown; readonly issue: IssueReason | null } {
  if (value === null) return { value: null, issue: 'too-large' }
  const parsed = json.parseJson(value.toString('utf8'))
  return parsed === null ? { value: null, issue: 'bad-json' } : { value: parsed.value, issue: null }
}

/** Null if the value has the wrong type. */
function decodeValue(
  key: string,
  value: unknown,
  members: readonly EvidenceWrite[],
  workspace: Workspace | null,
): Partial<ItemContent> | null {
  if (composer.tabKeys.includes(key)) return composer.decodeTabs(value)
  if (key === itemKeys.list) return decodeList(value, 'header-list')
  // What follows from two items is part of both pieces, so that it is written when either changes.
  if (key === itemKeys.projects || key === itemKeys.membership)
    return typeof value === 'object' && value !== null ? { evidence: members } : null
  if (key === itemKeys.composers) return decodeList(value, 'workspace-heads')
  if (key === itemKeys.prompts) return decodePrompts(value, workspace?.id ?? '')
  return decodePane(value)
}

/** The chats in a workspace's store belong to it; chats that were only open in its window may belong elsewhere. */
function weighItem(
  { chats, metadata, openTabs }: Pick<ItemContent, 'chats' | 'metadata' | 'openTabs'>,
  rootUri: string | null,
): EvidenceWrite[] {
  if (rootUri === null) return []
  const own = new Set([...chats.map(({ id }) => id), ...metadata.map(({ chatId }) => chatId)])
  const weigh = (id: ChatId, method: EvidenceMethod) => weighEvidence(id, [{ method, uri: rootUri }], { isOnly: false })
  return [...[...own].flatMap((id) => weigh(id, 'workspace-heads')), ...openTabs.flatMap((id) => weigh(id, 'open-tab'))]
}

const VIEW_PREFIX = 'workbench.panel.aichat.view.'

/**
 * The state of a pane of the window. Its keys name the chats that were open in it. Null if the value is not an object.
 */
function decodePane(value: unknown): Partial<ItemContent> | null {
  const pane = json.asRecord(value)
  if (pane === null) return null
  const names = Object.keys(pane).filter((name) => name.startsWith(VIEW_PREFIX) && name.length > VIEW_PREFIX.length)
  return { openTabs: names.map((name) => asChatId(json.wellFormed(name.slice(VIEW_PREFIX.length)))) }
}

/**
 * What the user typed in this workspace, oldest first, without ids, times or answers: `[{text}]`, as one chat. The list
 * is capped, so its entries move up: a prompt is identified by its text and by how often the text came before it. Null
 * if the value is not an array.
 */
function decodePrompts(value: unknown, workspaceId: string): Partial<ItemContent> | null {
  if (!Array.isArray(value)) return null
  const chatId = asChatId(`prompts-${workspaceId}`)
  const timesSeen = new Map<string, number>()
  const messages: MessageDraft[] = []
  for (const entry of value as readonly unknown[]) {
    const text = json.filledStringIn(json.asRecord(entry), 'text')
    if (text === null) continue
    const words = digest('sha256', text)
    const times = timesSeen.get(words) ?? 0
    timesSeen.set(words, times + 1)
    const place = { id: composer.madeId([chatId, words, times]), octets: 0, isEmbedded: true, toolData: undefined }
    const decoded = decodeMessageRecord({ type: 'user', text }, place)
    if (decoded.kind === 'message') messages.push(decoded.message)
  }
  if (messages.length === 0) return {}
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  return { chats: [{ id: chatId, facts: composer.decodeFacts({}, chatId, 'prompts'), outline, messages }] }
}

/**
 * A list of chats, `{allComposers: […]}` or an array. That of a workspace (`composer.composerData`) has whole chats in builds of
 * late 2024, and only heads of chats after that. Since the move to the global store in spring 2026 it is gone, and only the
 * open tabs are left. If a chat has two heads, the first is used. Null if the value is neither an object nor an array.
 */
function decodeList(value: unknown, list: 'header-list' | 'workspace-heads'): Partial<ItemContent> | null {
  const data = json.asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : json.listIn(data, 'allComposers')
  const chats: WholeChat[] = []
  const evidence: EvidenceWrite[] = []
  const metadata = new Map<ChatId, ChatMetadata>()
  let issue: IssueReason | null = null
  for (const entry of entries.map(json.asRecord)) {
    const id = json.filledStringIn(entry, 'composerId')
    const chatId = asChatId(id ?? '')
    if (entry === null || id === null) issue ??= list === 'workspace-heads' && holdsMessages(entry) ? 'bad-key' : null
    else if (list === 'workspace-heads' && isWhole(entry)) {
      const whole = composer.decodeChatRecord(entry, chatId, (at) => composer.nameMessage(chatId, at))
      const { outline, embedded: messages, placeholders } = whole
      // A chat without messages does not show its format; its location does.
      const facts = { ...whole.facts, format: holdsMessages(entry) ? whole.facts.format : ('inline' as const) }
      chats.push({ id: chatId, facts, outline, messages, placeholders, octets: composer.octetsOf(entry) })
      evidence.push(...weighEvidence(chatId, whole.evidence, { isOnly: true }))
      issue ??= whole.issue
    } else if (!metadata.has(chatId)) {
      metadata.set(chatId, composer.decodeHead(entry, chatId, list))
      if (list === 'header-list') evidence.push(...headEvidence(entry, chatId, list))
    }
  }
  const openTabs = decodeOpenTabs(data)
  return { chats: composer.mostComplete(chats), evidence, issue, metadata: [...metadata.values()], openTabs }
}

const holdsMessages = (record: JsonRecord | null): boolean =>
  json.listIn(record, 'conversation').length > 0 || json.holdsSomething(json.recordIn(record, 'conversationMap'))

/** An empty list of messages is also a chat, an unsent one, unless the entry says that its messages are elsewhere. */
function isWhole(entry: JsonRecord): boolean {
  const isElsewhere = entry['type'] === 'head' || json.holdsSomething(json.listIn(entry, 'fullConversationHeadersOnly'))
  return holdsMessages(entry) || (Array.isArray(entry['conversation']) && !isElsewhere)
}

function decodeOpenTabs(data: JsonRecord | null): readonly ChatId[] {
  const ids = [...json.listIn(data, 'selectedComposerIds'), ...json.listIn(data, 'lastFocusedComposerIds')]
  return [...new Set(ids.flatMap((id) => json.filledString(id) ?? []))].map((id) => asChatId(json.wellFormed(id)))
}

/** The two lists contain the same heads; each list's name is also the method of its evidence. */
type HeadList = Extract<EvidenceMethod, 'header-list' | 'header-table'>

/**
 * Where the chat belongs according to its head; otherwise where its agent works, which heads of recent builds contain.
 */
function headEvidence(head: JsonRecord, chatId: ChatId, list: HeadList): readonly EvidenceWrite[] {
  const place = json.recordIn(json.recordIn(head, 'agentLocation'), 'environment')
  const uri = json.readWorkspaceUri(head) ?? json.readFileUri(place?.['uri']) ?? json.readDraftTarget(head)
  return uri === null ? [] : weighEvidence(chatId, [{ method: list, uri }], { isOnly: true })
}

/** The key of the only piece, which is also the table's name. */
const PIECE = 'composerHeaders'

/** The root of a workspace, by its id; null if there is none. */
export type RootOf = (workspaceId: string) => string | null

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

function decodeHeadRow(row: HeadRow, rootOf: RootOf) {
  const isTooLarge = row.value === null && row.octets > 0
  const parsed = row.value === null ? null : json.parseRow(row.value)
  const record: JsonRecord = parsed?.kind === 'record' ? parsed.record : {}
  const issue = parsed?.kind === 'issue' ? parsed.reason : isTooLarge ? ('too-large' as const) : null
  const id = json.filledString(row.composerId) ?? json.filledStringIn(record, 'composerId')
  if (id === null) return { head: null, evidence: [], issue }
  const chatId = asChatId(id)
  const head = withColumns(composer.decodeHead(record, chatId, 'header-table'), row, record)
  const evidence = headEvidence(record, chatId, 'header-table')
  return { head, evidence: evidence.length > 0 ? evidence : columnEvidence(row, chatId, rootOf), issue }
}

/** The column contains only a workspace's id; the root comes from that workspace's folder. */
function columnEvidence({ workspaceId }: HeadRow, chatId: ChatId, rootOf: RootOf): readonly EvidenceWrite[] {
  const id = json.filledString(workspaceId)
  const uri = id === null ? null : rootOf(id)
  return uri === null ? [] : weighEvidence(chatId, [{ method: 'header-table', uri }], { isOnly: true })
}

/** The columns are written with every change, the value only now and then. */
function withColumns(head: ChatMetadata, row: HeadRow, record: JsonRecord): ChatMetadata {
  return {
    ...head,
    createdAtMs: json.readTime(row.createdAt) ?? head.createdAtMs,
    // Some rows have no time of their last change; then the time by which they are sorted is used.
    updatedAtMs: json.readTime(row.lastUpdatedAt) ?? head.updatedAtMs ?? json.readTime(row.recency),
    isArchived: composer.readFlag(row.isArchived) ?? head.isArchived,
    isSubagent: head.isSubagent ?? (composer.isAlternative(record) ? null : composer.readFlag(row.isSubagent)),
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
    const project = json.asRecord(entry)
    const id = json.filledStringIn(project, 'id') ?? key
    const uri = project === null ? null : readProjectUri(project)
    return id === null || uri === null ? [] : [[id, uri] as const]
  })
  return new Map(entries)
}

/** The project of each chat: an object with the chats' ids as keys, or an array of pairs. */
export function decodeMembership(value: unknown): ReadonlyMap<ChatId, string> {
  const entries = entriesOf(value).flatMap(([key, entry]) => {
    const pair = json.asRecord(entry)
    const id = json.firstFilledIn(pair, ['composerId', 'agentId', 'id']) ?? key
    const project = json.filledString(entry) ?? json.firstFilledIn(pair, ['projectId', 'localAgentProjectId'])
    return id === null || project === null ? [] : [[asChatId(id), project] as const]
  })
  return new Map(entries)
}

/** The entries of an array, or of an object with their keys. */
const entriesOf = (value: unknown): readonly (readonly [key: string | null, entry: unknown])[] =>
  Array.isArray(value)
    ? value.map((entry: unknown) => [null, entry])
    : Object.entries(json.asRecord(value) ?? {}).map(([key, entry]) => [json.wellFormed(key), entry])

function readProjectUri(project: JsonRecord): string | null {
  const workspace = json.recordIn(project, 'workspace')
  return (
    json.readUri(workspace?.['uri']) ??
    json.readUri(workspace?.['configPath']) ??
    json.readFileUri(project['workspace']) ??
    json.readFileUri(project['uri'])
  )
}
