import { hash as digest } from 'node:crypto'
import { normaliseRoot } from '../../projects/root-uri.ts'
import type { NameMessage, Piece, WholeChat } from '../../open-safely/whole-store.ts'
import * as json from './json.ts'
import type { JsonRecord } from './json.ts'
import { type DecodedIssue, decodeMessageRecord, decodeText, readRole } from './message.ts'
import type { ChatFacts, ChatMetadata, ContextItem, MessageDraft } from '../../../model/change.ts'
import { CALL_CHAT_PREFIX, type ChatFormat } from '../../../model/chat.ts'
import { type ChatId, type MessageId, asChatId, asMessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Placeholder } from '../../../model/message.ts'
import type { Outline, OutlineEntry } from '../../../model/thread.ts'

export type DecodedChatRow = ReturnType<typeof decodeChatRecord>

/**
 * Decodes the value of a `composerData:` row. Total: any bytes become a chat or an issue. `makeId` gives an id to an
 * embedded message that has none, from its ordinal in the row.
 */
export function decodeChatRow(value: string | Buffer, chatId: ChatId, makeId: MakeId): DecodedChatRow | DecodedIssue {
  const row = json.parseRow(value)
  return row.kind === 'issue' ? row : decodeChatRecord(row.record, chatId, makeId)
}

/** Decodes a chat's object, from whichever place. */
export function decodeChatRecord(chat: JsonRecord, chatId: ChatId, makeId: MakeId) {
  const { conversation, mapped } = readBodies(chat, makeId)
  const headers = decodeHeaders(chat)
  const toolData = readToolData(chat)
  const { messages, placeholders, issue } = decodeEmbedded([...conversation, ...mapped], toolData)
  return {
    kind: 'chat' as const,
    facts: decodeFacts(chat, chatId, readFormat(chat, headers !== null)),
    outline: headers ?? (conversation.length === 0 ? null : conversation.map(({ id, record }) => entryOf(id, record))),
    /** Messages inside the chat's own row, in its order. */
    embedded: messages,
    /** Entries of the chat's own row that are in the place of a message and have nothing to show. */
    placeholders,
    /** Tool data that old builds stored in the chat's row, by message. The message's decoder needs it. */
    toolData,
    evidence: json.decodeEvidence(chat),
    /** Files and folders that the chat is about, as normalised URIs. */
    paths: decodePaths(chat),
    /** True if the row names a copy of the thread as the model saw it. */
    namesCopy: readStateText(chat) !== null,
    issue,
  }
}

/** The mark before the state's bytes, which are base64 or hex. The mark alone is an empty state. */
const MARK = '~'

/** The encoded state of a chat's thread as the model saw it; null if the row has none. */
export function readStateText(chat: JsonRecord): string | null {
  const state = chat['conversationState']
  if (typeof state !== 'string') return null
  const text = state.startsWith(MARK) ? state.slice(MARK.length) : state
  return text === '' ? null : text
}

/** Decided by the content: the version number does not tell, and one file can contain all formats. */
function readFormat(chat: JsonRecord, hasHeaders: boolean): ChatFormat {
  if (!hasHeaders && json.listIn(chat, 'conversation').some((element) => json.asRecord(element) !== null))
    return 'inline'
  return json.holdsSomething(json.recordIn(chat, 'conversationMap')) ? 'map' : 'split'
}

/** The capability that ran tools, in builds that stored tool calls in the chat's row. */
const toolCapability = 15

function readToolData(chat: JsonRecord): ReadonlyMap<MessageId, unknown> {
  const byMessage = new Map<MessageId, unknown>()
  for (const element of json.listIn(chat, 'capabilities')) {
    const capability = json.asRecord(element)
    if (capability?.['type'] !== toolCapability) continue
    const calls = json.parsedRecord(json.recordIn(capability, 'data')?.['bubbleDataMap'])
    for (const [id, data] of Object.entries(calls ?? {})) byMessage.set(asMessageId(json.wellFormed(id)), data)
  }
  return byMessage
}

/** A message's body inside its chat's row. `record` is null if the element is not an object. */
interface EmbeddedBody {
  readonly id: MessageId
  readonly record: JsonRecord | null
}

type MakeId = (ordinal: number) => MessageId

/**
 * The bodies of `conversation[]` in order, and those of `conversationMap` that are not among them. Each has a unique id, and
 * the ordinals of the second continue after the first.
 */
function readBodies(chat: JsonRecord, makeId: MakeId) {
  const taken = new Set<string>()
  const bodyOf = (own: string | null, ordinal: number, record: JsonRecord | null): EmbeddedBody => {
    const id = own === null || taken.has(own) ? makeId(ordinal) : asMessageId(own)
    taken.add(id)
    return { id, record }
  }
  const conversation = json
    .listIn(chat, 'conversation')
    .map(json.asRecord)
    .map((record, ordinal) => bodyOf(json.filledStringIn(record, 'bubbleId'), ordinal, record))
  const listed = new Set<string>(taken)
  const mapped = Object.entries(json.recordIn(chat, 'conversationMap') ?? {}).flatMap(([key, element], index) => {
    const [own, record] = [json.wellFormed(key), json.asRecord(element)]
    if (record === null || listed.has(own)) return []
    return bodyOf(own === '' ? null : own, conversation.length + index, record)
  })
  return { conversation, mapped }
}

/** Bodies that have nothing to show are left out; their place in the order stays, as a gap. */
function decodeEmbedded(bodies: readonly EmbeddedBody[], toolData: ReadonlyMap<MessageId, unknown>) {
  const messages: MessageDraft[] = []
  const placeholders = new Map<MessageId, Placeholder | null>()
  let issue: IssueReason | null = null
  for (const { id, record } of bodies) {
    if (record === null) continue
    const decoded = decodeMessageRecord(record, { id, octets: 0, isEmbedded: true, toolData: toolData.get(id) })
    if (decoded.kind === 'message') messages.push(decoded.message)
    else if (decoded.kind === 'nothing') placeholders.set(id, decoded.placeholder ?? null)
    issue ??= decoded.kind === 'issue' ? decoded.reason : decoded.issue
  }
  return { messages, placeholders, issue }
}

/**
 * The order from the chat's list of headers. Null if no entry has anything to find a message by. An entry without an id
 * or a time keeps its place, and no message takes it.
 */
function decodeHeaders(chat: JsonRecord): Outline {
  const entries = json.listIn(chat, 'fullConversationHeadersOnly').map((element) => {
    const header = json.asRecord(element)
    const id = json.stringIn(header, 'bubbleId')
    return entryOf(id === null ? null : asMessageId(id), header)
  })
  const canBeFound = entries.some(
    ({ id, createdAtMs, startedAtMs }) => (id ?? '') !== '' || (createdAtMs ?? startedAtMs) !== null,
  )
  return canBeFound ? entries : null
}

/** `role`: only the two known numbers. A guess here would match an entry with the wrong row. */
function entryOf(id: MessageId | null, record: JsonRecord | null): OutlineEntry {
  const startedAtMs = json.readTime(record?.['startedAtMs'])
  const createdAtMs = json.readTime(record?.['createdAt']) ?? startedAtMs ?? json.readTime(record?.['completedAtMs'])
  const type = record?.['type']
  return { id, role: type === 1 || type === 2 ? readRole(type) : null, createdAtMs, startedAtMs }
}

/** The items that contain tabs, in a workspace's store and in the global one. The second key is the older one. */
export const tabKeys: readonly string[] = [
  'workbench.panel.aichat.view.aichat.chatdata',
  'workbench.panel.chat.view.chat.chatdata',
]

/**
 * The chats of the oldest builds: `{tabs: [{tabId, chatTitle, bubbles}]}`. Null if the value is not an object. `issue`
 * says why a part could not be read; everything else was decoded.
 */
export function decodeTabs(
  value: unknown,
): { readonly chats: readonly WholeChat[]; readonly issue: IssueReason | null } | null {
  const data = json.asRecord(value)
  if (data === null) return null
  const chats: WholeChat[] = []
  let issue: IssueReason | null = null
  for (const tab of json.listIn(data, 'tabs').map(json.asRecord)) {
    const id = json.filledStringIn(tab, 'tabId')
    if (tab !== null && id !== null) {
      const decoded = decodeTab(tab, asChatId(id))
      chats.push(decoded.chat)
      issue ??= decoded.issue
    } else if (json.listIn(tab, 'bubbles').length > 0) issue ??= 'bad-key'
  }
  return { chats: mostComplete(chats), issue }
}

/**
 * Renames the fields to those of later chats and decodes it like one of them. Its only time is that of the last
 * message.
 */
function decodeTab(tab: JsonRecord, id: ChatId): { readonly chat: WholeChat; readonly issue: IssueReason | null } {
  const record = {
    name: tab['chatTitle'],
    lastUpdatedAt: tab['lastSendTime'],
    conversation: withoutDraft(json.listIn(tab, 'bubbles')).map(renamed),
  }
  const decoded = decodeChatRecord(record, id, (ordinal) => nameMessage(id, ordinal))
  const facts = { ...decoded.facts, format: 'tab' as const }
  const { outline, embedded: messages, placeholders, issue } = decoded
  return { chat: { id, facts, outline, messages, placeholders, octets: octetsOf(tab) }, issue }
}

/** A tab stores its input box as its last bubble. It can contain files before it contains text. */
const withoutDraft = (bubbles: readonly unknown[]): readonly unknown[] =>
  bubbles.slice(0, bubbles.findLastIndex((bubble) => !isDraft(json.asRecord(bubble), bubbles.length === 1)) + 1)

/** @param isOnly whether it is the tab's only bubble: that of a tab in which nothing was sent has no mark */
const isDraft = (bubble: JsonRecord | null, isOnly: boolean): boolean =>
  bubble !== null && (isOnly || bubble['followup'] === true) && bubble['type'] !== 'ai' && decodeText(bubble) === null

/**
 * `rawText` of an answer is the model's text; `text` was changed for display. An element that is not an object keeps
 * its place.
 */
function renamed(element: unknown): unknown {
  const bubble = json.asRecord(element)
  if (bubble === null) return element
  const id = json.filledStringIn(bubble, 'id')
  const raw = bubble['type'] === 'ai' ? json.firstFilledIn(bubble, ['rawText']) : null
  return { ...bubble, ...(id === null ? {} : { bubbleId: id }), ...(raw === null ? {} : { text: raw }) }
}

/** The store is not part of the id, so that the messages of one chat in two stores are the same messages. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId([chatId, ordinal])

export const madeId = (identity: readonly (string | number)[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(identity)).slice(0, 32)}`)

/**
 * The size of one entry of an item with many entries. Cursor writes items with `JSON.stringify`. An entry that is too
 * deep for it counts as 0.
 */
export const octetsOf = (entry: JsonRecord): number =>
  json.boundJson(entry).isTooDeep ? 0 : Buffer.byteLength(JSON.stringify(entry))

/** If a list contains a chat twice, the one with more messages is used. */
export function mostComplete(chats: readonly WholeChat[]): readonly WholeChat[] {
  const byId = new Map<ChatId, WholeChat>()
  for (const chat of chats) {
    const before = byId.get(chat.id)
    if (before === undefined || before.messages.length < chat.messages.length) byId.set(chat.id, chat)
  }
  return [...byId.values()]
}

/**
 * A chat may have been moved from one item to another and left behind in the first. It is used from the item with the
 * most messages.
 */
export function eachChatOnce(pieces: readonly Piece[]): Piece[] {
  const used = new Set(mostComplete(pieces.flatMap(({ chats }) => chats)))
  return pieces.map((piece) => ({ ...piece, chats: piece.chats.filter((chat) => used.has(chat)) }))
}

/**
 * Facts about a chat from its own row. Its `text`, `richText` and `context` are the unsent draft in the input box and
 * are never read; neither is its encryption key.
 */
export function decodeFacts(chat: JsonRecord, chatId: ChatId, format: ChatFormat): ChatFacts {
  const latest = json.recordIn(chat, 'latestConversationSummary')
  return {
    ...readCommon(chat),
    format,
    summary: json.filledStringIn(latest, 'summary') ?? json.filledStringIn(json.recordIn(latest, 'summary'), 'summary'),
    preview: readPreview(chat),
    todos: json.decodeTodos(json.listIn(chat, 'todos')),
    mode: json.firstFilledIn(chat, ['unifiedMode', 'forceMode']) ?? (chat['isAgentic'] === true ? 'agent' : null),
    model: json.readModelName(json.recordIn(chat, 'modelConfig'), 'modelName'),
    status: readStatus(chat),
    isArchived: chat['isArchived'] === true,
    isDraft: chat['isDraft'] === true || chatId === 'empty-state-draft',
    isSubagent: startedByAgent(chat) || chatId.startsWith(CALL_CHAT_PREFIX),
    childChatIds: readChildren(chat),
    contextTokens: readContextTokens(chat),
    recordedCostCents: readCost(chat),
  }
}

const PREVIEW_LENGTH_MAX = 4000

/** Beginnings of messages in the list of messages, by builds of 2026. Their rows may not be here. */
function readPreview(chat: JsonRecord): string | null {
  const begun = json.listIn(chat, 'fullConversationHeadersOnly').flatMap(
    (header) =>
      json
        .filledStringIn(json.recordIn(json.asRecord(header), 'grouping'), 'textPreview')
        ?.replace(/\s+/g, ' ')
        .trim() ?? [],
  )
  return begun.length === 0 ? null : json.wellFormed(begun.join('\n').slice(0, PREVIEW_LENGTH_MAX))
}
/** An alternative answer to one prompt names the chat of the first one as a subagent does, and is a chat like any other. */
export const isAlternative = (record: JsonRecord): boolean => record['isBestOfNSubcomposer'] === true

const startedByAgent = (record: JsonRecord): boolean =>
  json.recordIn(record, 'subagentInfo') !== null && !isAlternative(record)

/** What a chat's own row and an entry in a list of chats say alike. */
function readCommon(record: JsonRecord) {
  const parentChatId = json.filledStringIn(json.recordIn(record, 'subagentInfo'), 'parentComposerId')
  return {
    name: json.filledStringIn(record, 'name'),
    createdAtMs: json.readTime(record['createdAt']),
    updatedAtMs: json.readTime(record['lastUpdatedAt']),
    parentChatId: parentChatId === null ? null : asChatId(parentChatId),
    linesAdded: json.countIn(record, 'totalLinesAdded'),
    linesRemoved: json.countIn(record, 'totalLinesRemoved'),
    filesChanged: json.countIn(record, 'filesChangedCount'),
    branch:
      json.filledStringIn(json.recordIn(record, 'createdOnBranch'), 'name') ??
      json.filledStringIn(record, 'createdOnBranch'),
  }
}

/** During a run Cursor writes the status `aborted`; only the run's own field is right. */
function readStatus(chat: JsonRecord): string | null {
  if ((chat['unfinishedRunAt'] ?? null) !== null) return 'generating'
  const status = json.filledStringIn(chat, 'status')
  return status === 'none' ? null : status
}

/** Not `subComposerIds`: those are alternatives, which say so themselves. */
function readChildren(chat: JsonRecord): readonly ChatId[] {
  const ids = [...json.listIn(chat, 'subagentComposerIds'), ...json.listIn(chat, 'supersededSubagentComposerIds')]
  const named = ids.flatMap((id) => (typeof id === 'string' && id !== '' ? asChatId(json.wellFormed(id)) : []))
  return [...new Set(named)]
}

function readContextTokens(chat: JsonRecord): ChatFacts['contextTokens'] {
  const used =
    positiveIn(chat, 'contextTokensUsed') ??
    positiveIn(json.recordIn(chat, 'promptTokenBreakdown') ?? {}, 'totalUsedTokens')
  const limit = positiveIn(chat, 'contextTokenLimit')
  const items = readContextItems(chat)
  return used === null && limit === null ? null : { used, limit, ...(items.length === 0 ? {} : { items }) }
}

/**
 * What fills the context: the kinds of things, as Cursor calls them. The nodes below a kind are not read: their names may be
 * words of the chat, and their tokens are in those of the kind.
 */
function readContextItems(chat: JsonRecord): readonly ContextItem[] {
  const nodes = json.listIn(json.recordIn(chat, 'promptContextUsageTree'), 'nodes').map(json.asRecord)
  const kinds = nodes.filter((node) => node?.['kind'] === 'category')
  const found =
    kinds.length > 0 ? kinds : json.listIn(json.recordIn(chat, 'promptTokenBreakdown'), 'categories').map(json.asRecord)
  return found.flatMap((node) => {
    const name = json.firstFilledIn(node, ['label', 'categoryId', 'id'])
    const tokens = node === null ? null : positiveIn(node, 'estimatedTokens')
    return name === null || tokens === null ? [] : [{ name, tokens }]
  })
}

function positiveIn(record: JsonRecord, name: string): number | null {
  const value = json.numberIn(record, name)
  return value !== null && value > 0 ? value : null
}

/** Cents as recorded by Cursor, over all models. Builds since mid 2025 record none. */
function readCost(chat: JsonRecord): number | null {
  const usage = Object.values(json.recordIn(chat, 'usageData') ?? {})
  const cents = usage.reduce<number>((sum, entry) => sum + (json.numberIn(json.asRecord(entry), 'costInCents') ?? 0), 0)
  return Number.isFinite(cents) && cents > 0 ? cents : null
}

/** Facts about a chat from a list of chats. */
export const decodeHead = (head: JsonRecord, chatId: ChatId, list: string): ChatMetadata => ({
  ...readCommon(head),
  chatId,
  list,
  mode: json.firstFilledIn(head, ['unifiedMode', 'forceMode']),
  isArchived: readFlag(head['isArchived']),
  isDraft: readFlag(head['isDraft']),
  isSubagent: startedByAgent(head) ? true : null,
})

/** Columns have 0 and 1 for a flag of JSON. */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : null
}

/** Enough to find the root that contains most of them. */
const pathsMax = 12
const lengthMax = 4096

/**
 * Files and folders that a chat is about, as distinct normalised URIs. They decide where a chat belongs if there is no
 * other evidence. Relative paths are useless for that. Of `context`, which is the unsent draft, only the attached
 * places are read.
 */
export function decodePaths(chat: JsonRecord): readonly string[] {
  const found = new Set<string>()
  for (const place of namedPlaces(chat)) {
    const uri = readPlace(place)
    if (uri !== null && uri.length <= lengthMax) found.add(uri)
    if (found.size === pathsMax) break
  }
  return [...found]
}

function* namedPlaces(chat: JsonRecord): Generator<unknown, void> {
  const context = json.recordIn(chat, 'context')
  yield* json.listIn(context, 'fileSelections')
  yield* json.listIn(context, 'folderSelections')
  yield* json.listIn(chat, 'newlyCreatedFiles')
  // Their values are the texts of files; only the keys are read, which are URIs.
  yield* Object.keys(json.recordIn(chat, 'codeBlockData') ?? {})
  yield* Object.keys(json.recordIn(chat, 'originalFileStates') ?? {})
  yield* json.listIn(context, 'attachedCodeChunks')
  yield* json.listIn(chat, 'attachedCodeChunks')
  yield* json.listIn(chat, 'allAttachedFileCodeChunksUris')
}

function readPlace(place: unknown): string | null {
  const uri = json.readFileUri(json.asRecord(place)?.['uri']) ?? json.readFileUri(place)
  return uri === null ? null : (normaliseRoot(uri)?.uri ?? null)
}
