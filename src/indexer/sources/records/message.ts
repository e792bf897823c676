import type { Evidence } from '../../projects/root-uri.ts'
import * as json from './json.ts'
import type { JsonRecord } from './json.ts'
import { decodeCode, decodeTool, withoutCopies, withPlans } from './tool.ts'
import type { MessageDraft, PendingReference } from '../../../model/change.ts'
import { type MessageId, asMessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Json } from '../../../model/json.ts'
import { type Placeholder, type Role, recordedTokens } from '../../../model/message.ts'
import type { AttachmentPart, Part, SummaryPart, TextPart, ThinkingPart } from '../../../model/part.ts'

export interface DecodedIssue {
  readonly kind: 'issue'
  readonly reason: IssueReason
}

/** What a message's row contains beside the message. */
interface ReadMessage {
  readonly issue: IssueReason | null
  /** Where the chat belongs, according to the row. Left out if the row says nothing about it, as most rows do. */
  readonly evidence?: readonly Evidence[]
}

/**
 * `nothing`: a row that was read and understood but contains no message (a placeholder, bookkeeping). `placeholder` is
 * left out if the row records no tokens.
 */
export type DecodedMessage =
  | ({ readonly kind: 'message'; readonly message: MessageDraft } & ReadMessage)
  | ({ readonly kind: 'nothing'; readonly placeholder?: Placeholder } & ReadMessage)
  | DecodedIssue

/**
 * Decodes the value of a `bubbleId:` row. Total: any bytes become a message, nothing to show, or an issue. `octets` is
 * the row's size in bytes. `toolData` is this message's data from the chat's row, in chats of old builds. `listedRole`
 * is the role in the chat's list, for a row without a role.
 * @param id from the key. It takes precedence over the id in the JSON, which is empty in some rows and another row's in
 * others
 */
export function decodeMessageRow(
  value: string | Buffer,
  id: MessageId,
  octets: number,
  toolData?: unknown,
  listedRole: Role | null = null,
): DecodedMessage {
  const row = json.parseRow(value)
  if (row.kind === 'issue') return row
  const decoded = decodeMessageRecord(row.record, { id, octets, isEmbedded: false, toolData, listedRole })
  if (decoded.kind === 'issue') return decoded
  const evidence = json.decodeMessageEvidence(row.record)
  const withEvidence = evidence.length === 0 ? decoded : { ...decoded, evidence }
  if (withEvidence.kind === 'nothing') return withEvidence
  const contents = value.includes(CONTENT_PREFIX) ? findContents(row.record) : []
  const references = [...findOmissions(withEvidence.message.parts), ...contents]
  return references.length === 0 ? withEvidence : { ...withEvidence, message: { ...withEvidence.message, references } }
}

interface MessagePlace extends Pick<MessageDraft, 'id' | 'octets' | 'isEmbedded'> {
  readonly toolData: unknown
  readonly listedRole?: Role | null
}

/** Decodes a message's object, from whichever place. */
export function decodeMessageRecord(record: JsonRecord, place: MessagePlace): DecodedMessage {
  const role = readRole(record['type']) ?? place.listedRole ?? 'assistant'
  const { parts, childChatIds, issue } = decodeParts(record, role, place.toolData)
  // Every row has both counts. Zero, as in all rows since early 2026, means not recorded, and so does an invalid value.
  const count = json.recordIn(record, 'tokenCount')
  const tokens = recordedTokens(json.countIn(count, 'inputTokens'), json.countIn(count, 'outputTokens'))
  const base = { id: place.id, alias: readAlias(record, place.id), role, ...json.readRowTimes(record) }
  if (parts.length === 0) {
    if (issue === null && holdsUnknownText(record)) return { kind: 'issue', reason: 'unknown-shape' }
    return tokens === null ? { kind: 'nothing', issue } : { kind: 'nothing', issue, placeholder: { ...base, tokens } }
  }
  const message: MessageDraft = {
    ...base,
    model:
      json.readModelName(json.recordIn(record, 'modelInfo'), 'modelName') ?? json.readModelName(record, 'modelType'),
    tokens,
    requestId: tokens === null ? null : json.filledStringIn(record, 'requestId'),
    parts,
    isSimulated: record['isSimulatedMsg'] === true || parts.every(({ kind }) => kind === 'summary'),
    octets: place.octets,
    isEmbedded: place.isEmbedded,
    ...(childChatIds.length === 0 ? {} : { childChatIds }),
  }
  return { kind: 'message', message, issue }
}

/** The id inside some rows differs from the one in their key; the chat's list may use either. */
function readAlias(record: JsonRecord, id: MessageId): MessageId | null {
  const alias = json.stringIn(record, 'bubbleId')
  return alias === null || alias === id ? null : asMessageId(alias)
}

/** A number in composers, a word in the older tabs. Null if the entry has no role. */
export function readRole(type: unknown): Role | null {
  if (type === 1 || type === 'user') return 'user'
  return type === undefined || type === null ? null : 'assistant'
}

/** A row may contain several things at once. All of them are returned, in the order in which Cursor shows them. */
function decodeParts(record: JsonRecord, role: Role, toolData: unknown) {
  const tool = decodeTool(record['toolFormerData'], toolData)
  const text = decodeText(record)
  const thinking = decodeThinking(record)
  const work = [...withoutCopies([...decodeCode(record, text?.text ?? ''), ...(tool?.code ?? [])]), tool?.part ?? null]
  const attachments = decodeAttachments(record)
  const summaries = decodeSummaries(record)
  const error = decodeError(record['errorDetails'])
  const items = json.decodeTodos(json.listIn(record, 'todos'))
  const todo: Part | null = items.length === 0 ? null : { kind: 'todo', items }
  const parts: readonly (Part | null)[] =
    role === 'user'
      ? [text, ...attachments, thinking, ...work, todo, ...summaries, error.part]
      : [thinking, text, ...work, ...attachments, todo, ...summaries, error.part]
  const isTooDeep = tool?.isTooDeep === true || error.isTooDeep
  return {
    parts: withPlans(parts.filter((part) => part !== null)),
    childChatIds: tool?.childChatIds ?? [],
    issue: isTooDeep ? ('too-deep' as const) : null,
  }
}

/** What Cursor wrote in place of earlier messages, in rows of 2025: a text, or an object with one. */
function decodeSummaries(record: JsonRecord): readonly SummaryPart[] {
  const found = ['cachedConversationSummary', 'conversationSummary'].flatMap((name) => {
    const value = json.parsedRecord(record[name]) ?? record[name]
    const inner = json.asRecord(value)?.['summary']
    return (
      json.filledString(value) ?? json.filledString(inner) ?? json.filledStringIn(json.asRecord(inner), 'summary') ?? []
    )
  })
  return [...new Set(found)].map((text) => ({ kind: 'summary', text }))
}

/** The field names differ by build, so every string is used. */
function decodeError(details: unknown): { readonly part: Part | null; readonly isTooDeep: boolean } {
  const parsed = typeof details === 'string' ? (json.parseJson(details)?.value ?? details) : details
  const leaves = json.stringLeaves(parsed)
  const part: Part | null = leaves.length === 0 ? null : { kind: 'error', text: leaves.join('\n') }
  return { part, isTooDeep: json.boundJson(parsed).isTooDeep }
}

/** Known strings with words that are not part of the conversation, or are read elsewhere and can be empty in their own form. */
const KNOWN: ReadonlySet<string> = new Set([
  'richText',
  'initText',
  'simulatedMsgReason',
  'workspaceProjectDir',
  'promptDryRunInfo',
  'modelType',
  'createdAt',
  'cachedConversationSummary',
  'conversationSummary',
])
const LENGTH_MIN = 20

/**
 * Whether a record without anything to show contains words in an unknown field. A future version may rename a field,
 * and its messages would be lost silently. Ids, hashes and paths have no space between words.
 */
const holdsUnknownText = (record: JsonRecord): boolean =>
  Object.entries(record).some(
    ([name, value]) =>
      typeof value === 'string' && value.length >= LENGTH_MIN && /\p{L}\s+\p{L}/u.test(value) && !KNOWN.has(name),
  )

/**
 * The text of a message, unchanged. The fields are copies of each other from different builds: the first non-blank one
 * is used.
 */
export function decodeText(record: JsonRecord): TextPart | null {
  for (const read of textReaders) {
    const text = read(record)
    if (text !== null && !json.isBlank(text)) return { kind: 'text', text }
  }
  return null
}

const textReaders: readonly ((record: JsonRecord) => string | null)[] = [
  (record) => plainText(record['text']),
  (record) => decodeRichText(record['richText']),
  (record) => plainText(record['rawText']),
  // Also `{a: text}`, according to an exporter for the oldest builds; we have not seen it in a file.
  (record) => plainText(record['delegate']) ?? json.filledStringIn(json.asRecord(record['delegate']), 'a'),
  (record) => decodeRichText(record['initText']),
  (record) => plainText(record['content']),
  (record) => plainText(record['message']),
]

/** A string, or a list of strings and `{text}` blocks. */
function plainText(value: unknown): string | null {
  if (typeof value === 'string') return json.wellFormed(value)
  if (!Array.isArray(value)) return null
  const blocks = value as readonly unknown[]
  return blocks
    .flatMap((block) => json.filledString(block) ?? json.filledStringIn(json.asRecord(block), 'text') ?? [])
    .join('\n')
}

/** The reasoning before an answer. Its signature is never read, as it is of no use to people. */
function decodeThinking(record: JsonRecord): ThinkingPart | null {
  const own = json.filledStringIn(record, 'thinking') ?? json.filledStringIn(json.asRecord(record['thinking']), 'text')
  const blocks = json
    .listIn(record, 'allThinkingBlocks')
    .flatMap(
      (block) => json.filledString(block) ?? json.firstFilledIn(json.asRecord(block), ['thinking', 'text']) ?? [],
    )
  if (own === null && blocks.length === 0) return null
  const durationMs = json.numberIn(record, 'thinkingDurationMs')
  return { kind: 'thinking', text: own ?? blocks.join('\n\n'), durationMs }
}

/**
 * The plain text of an editor state (Lexical), as a JSON string or an object. A string that is not an editor state is
 * the text itself: some builds wrote plain text here, which may happen to be valid JSON.
 */
function decodeRichText(value: unknown): string | null {
  const state = json.asRecord(typeof value === 'string' ? json.parseJson(value)?.value : value)
  const root = json.recordIn(state, 'root')
  if (root !== null) return projectText(root)
  return typeof value === 'string' ? json.wellFormed(value) : null
}

/** Nodes with children that are still part of a line. */
const inlineTypes = new Set(['link', 'autolink', 'mention', 'mark'])

/** Iterative, because an editor state can be nested deeper than the stack. */
function projectText(root: JsonRecord): string {
  const pieces: string[] = []
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const next = waiting.pop()
    const leaf = typeof next === 'string' ? next : leafText(json.asRecord(next))
    if (leaf !== '') pieces.push(leaf)
    else for (const piece of piecesOf(json.asRecord(next)).reverse()) waiting.push(piece)
  }
  return json.wellFormed(pieces.join(''))
}

/** Empty for a node whose text is in its children. */
function leafText(node: JsonRecord | null): string {
  const type = node?.['type']
  if (type === 'linebreak') return '\n'
  if (type === 'tab') return '\t'
  if (type === 'mention') return json.firstFilledIn(node, ['mentionName', 'displayName', 'text', 'name']) ?? ''
  return json.stringIn(node, 'text') ?? ''
}

/** A node's children, with a line break before each block that follows something. */
function piecesOf(node: JsonRecord | null): unknown[] {
  return json
    .listIn(node, 'children')
    .flatMap((child, index) => (index > 0 && isBlock(child) ? ['\n', child] : [child]))
}

function isBlock(child: unknown): boolean {
  const node = json.asRecord(child)
  const type = node?.['type']
  return type === 'paragraph' || (Array.isArray(node?.['children']) && !inlineTypes.has(String(type)))
}

/** The attachments of a message, from the row itself and from its `context`, without duplicates. */
function decodeAttachments(record: JsonRecord): readonly AttachmentPart[] {
  const found = new Map<string, AttachmentPart>()
  for (const scope of [record, json.recordIn(record, 'context')]) {
    for (const [field, decode] of attachmentFields) {
      for (const item of json.listIn(scope, field)) {
        const [path, text] = decode(json.asRecord(item), item)
        if (path !== null) found.set(`${path}\0${text ?? ''}`, { kind: 'attachment', path, text })
      }
    }
  }
  return [...found.values()]
}

/** What is attached: nothing if `path` is null. */
type Attached = readonly [path: string | null, text: string | null]

const attachmentFields: readonly (readonly [string, (record: JsonRecord | null, item: unknown) => Attached])[] = [
  ['fileSelections', decodeFile],
  ['folderSelections', decodeFile],
  ['selections', (record) => selectionOf(json.readItemPath(record), json.firstFilledIn(record, ['text', 'rawText']))],
  ['attachedCodeChunks', decodeChunk],
  ['terminalSelections', decodeTerminal],
  ['externalLinks', (record, item) => [json.filledStringIn(record, 'url') ?? json.readItemPath(item), null]],
  ['images', decodeImage],
  ['selectedImages', decodeImage],
]

/** Builds that name the file by something else than a URI also store its content. */
function decodeFile(record: JsonRecord | null, item: unknown): Attached {
  return [
    json.readItemPath(item) ?? json.firstFilledIn(record, ['relativePath', 'fileName']),
    json.filledStringIn(record, 'content'),
  ]
}

const selectionOf = (path: string | null, text: string | null): Attached => [
  path ?? (text === null ? null : 'selection'),
  text,
]

function decodeChunk(record: JsonRecord | null): Attached {
  const lines = json
    .listIn(record, 'lines')
    .map((line) => (typeof line === 'string' ? line : json.asRecord(line)?.['text']))
  const text = json.filledString(lines.filter((line) => typeof line === 'string').join('\n'))
  const path = json.filledStringIn(record, 'relativeWorkspacePath') ?? json.readItemPath(record)
  return selectionOf(path, text ?? json.firstFilledIn(record, ['contents', 'content']))
}

function decodeTerminal(record: JsonRecord | null, item: unknown): Attached {
  const text = json.filledString(item) ?? json.firstFilledIn(record, ['text', 'rawText'])
  return [text === null ? null : 'terminal', text]
}

const imagePathLengthMax = 1024

/** An image is a path, a URI, or the bytes themselves in some encoding. Only what cannot be bytes is used. */
function decodeImage(record: JsonRecord | null, item: unknown): Attached {
  if (record === null && typeof item !== 'string') return [null, null]
  const path = json.readItemPath(item)
  const isPath = path !== null && path.length <= imagePathLengthMax && /[.:\\]/.test(path) && !/^\s*data:/i.test(path)
  return [isPath ? path : 'image', null]
}

/** Finished calls whose row has no output: it may be in what was sent to the model. */
function findOmissions(parts: readonly Part[]): readonly PendingReference[] {
  const references: PendingReference[] = []
  for (const part of parts) {
    if (part.kind !== 'tool' || part.callId === null || part.status === 'running' || part.error !== null) continue
    if (!hasText(part.output)) references.push({ kind: 'output', name: part.callId, path: null })
  }
  return references
}

/** Newer rows contain counts, ids and hashes of contents instead of a result. */
function hasText(output: Json): boolean {
  const waiting: Json[] = [output]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string' && /\S/.test(value) && !isReference(value)) return true
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) waiting.push(each)
  }
  return false
}

const REFERENCE = /^(?:[\w.-]+[.:])?(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,})$/i

const isReference = (text: string): boolean => REFERENCE.test(text.trim())

/** Pasted and attached texts are stored under this prefix and their SHA-256. */
export const CONTENT_PREFIX = 'composer.content.'
const REFERENCE_TO_CONTENT = /composer\.content\.([0-9a-f]{64})(?![0-9a-f])/g
const CONTENTS_MAX = 100

/**
 * The contents that a message's record refers to. Tool data is skipped: the versions of a file before and after each
 * edit are neither pasted nor attached, and the call already describes the edit.
 */
function findContents(record: JsonRecord): readonly PendingReference[] {
  const paths = new Map<string, string | null>()
  const { toolFormerData: _, ...rest } = record
  const waiting: { value: unknown; path: string | null; depth: number }[] = [{ value: rest, path: null, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined && paths.size < CONTENTS_MAX; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') {
      for (const [, hash] of value.matchAll(REFERENCE_TO_CONTENT))
        if (hash !== undefined) noteFirst(paths, hash, next.path)
    }
    if (typeof value !== 'object' || value === null || depth === json.DEPTH_MAX) continue
    const path = nameOf(json.asRecord(value), depth) ?? next.path
    for (const child of Object.values(value).reverse()) waiting.push({ value: child, path, depth: depth + 1 })
    for (const key of Object.keys(value)) {
      for (const [, hash] of key.matchAll(REFERENCE_TO_CONTENT)) if (hash !== undefined) noteFirst(paths, hash, path)
    }
  }
  return [...paths].map(([name, path]) => ({ kind: 'content', name, path: path ?? 'pasted text' }))
}

function noteFirst(paths: Map<string, string | null>, hash: string, path: string | null): void {
  if (!paths.has(hash)) paths.set(hash, path)
}

/** The name in the object around a reference. The record itself is the message, so its fields name nothing in it. */
function nameOf(record: JsonRecord | null, depth: number): string | null {
  if (record === null || depth === 0) return null
  const name =
    json.readItemPath(record) ?? json.firstFilledIn(record, ['relativeWorkspacePath', 'fileName', 'name', 'title'])
  return name === null || name.includes(CONTENT_PREFIX) ? null : name
}
