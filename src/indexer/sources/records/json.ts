import { constants } from 'node:buffer'
import type { Evidence, EvidenceMethod } from '../../projects/root-uri.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { COUNT_MAX, countValues, type Json } from '../../../model/json.ts'
import type { TodoItem } from '../../../model/part.ts'

/** An object from Cursor's JSON. Its fields can have any type; the readers below check them. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** Characters. A shorter text needs little memory, whatever it is. */
const COUNTED_LENGTH = 256 * 1024
/** Cursor's own JSON has about fifty characters for each object or array. A hundred bytes of memory go to each. */
const LENGTH_PER_OBJECT = 8
/** So many objects take 50 MB at most, so they are parsed whatever the text is. */
const OBJECTS_MIN = 250_000

/**
 * The value is wrapped in an object, because `null` is itself a JSON value. A long text that is little else than brackets
 * is refused: 2 MB of them would take 200 MB of memory.
 */
export function parseJson(text: string): { readonly value: unknown } | null {
  if (
    text.length > COUNTED_LENGTH &&
    countValues(text).objects > Math.max(OBJECTS_MIN, text.length / LENGTH_PER_OBJECT)
  )
    return null
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

export function asRecord(value: unknown): JsonRecord | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : null
}

const MAY_BE_RECORD = /^\s*\{/

/** Depending on its version, Cursor writes many objects as a JSON string inside the JSON. */
export function parsedRecord(value: unknown): JsonRecord | null {
  if (typeof value !== 'string') return asRecord(value)
  // A failed parse is slow, and many of these strings are no JSON.
  return MAY_BE_RECORD.test(value) ? asRecord(parseJson(value)?.value) : null
}

export const isBlank = (text: string): boolean => !/\S/u.test(text)

/** An escape such as `\ud800` parses to half a surrogate pair, which SQLite would store as invalid UTF-8. */
export const wellFormed = (text: string): string => text.toWellFormed()

export function stringIn(record: JsonRecord | null, name: string): string | null {
  const value = record?.[name]
  return typeof value === 'string' ? wellFormed(value) : null
}

/** The string unchanged; null for other types and for blank strings. */
export function filledString(value: unknown): string | null {
  return typeof value === 'string' && !isBlank(value) ? wellFormed(value) : null
}

export const filledStringIn = (record: JsonRecord | null, name: string): string | null => filledString(record?.[name])

/** The first of the fields that is not blank. */
export const firstFilledIn = (record: JsonRecord | null, names: readonly string[]): string | null =>
  firstOf(names, (name) => filledStringIn(record, name))

/** Finite only: `1e999` parses to Infinity. */
export function numberIn(record: JsonRecord | null, name: string): number | null {
  const value = record?.[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** An integer from 0 to `COUNT_MAX`, as the mirror and archives require; a fraction is cut off. */
export function countIn(record: JsonRecord | null, name: string): number | null {
  const count = Math.floor(numberIn(record, name) ?? -1)
  return count >= 0 && count <= COUNT_MAX ? count : null
}

export function recordIn(record: JsonRecord | null, name: string): JsonRecord | null {
  return asRecord(record?.[name])
}

export function listIn(record: JsonRecord | null, name: string): readonly unknown[] {
  const value = record?.[name]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

/** False for null, blank text, `[]` and `{}`. */
export function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined) return false
  if (typeof value === 'string') return !isBlank(value)
  return typeof value === 'object' ? Object.keys(value).length > 0 : true
}

export interface BoundedJson {
  /** Null if the value was too deep. */
  readonly value: Json
  readonly isTooDeep: boolean
}

/** `JSON.parse` reads any depth, but `JSON.stringify` and every recursive reader would overflow the stack. */
export const DEPTH_MAX = 500

/** Returns a parsed value that can be stored and walked; it is the same object if nothing needs repair. */
export function boundJson(value: unknown): BoundedJson {
  const found = inspect(value)
  if (found === 'too-deep') return { value: null, isTooDeep: true }
  return { value: found === 'ill-formed' ? repaired(value as Json) : ((value ?? null) as Json), isTooDeep: false }
}

function inspect(root: unknown): 'fine' | 'ill-formed' | 'too-deep' {
  let isFine = true
  const waiting = [{ value: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') isFine &&= value.isWellFormed()
    if (typeof value !== 'object' || value === null) continue
    if (depth === DEPTH_MAX) return 'too-deep'
    if (!Array.isArray(value)) isFine &&= Object.keys(value).every((key) => key.isWellFormed())
    for (const child of Object.values(value)) waiting.push({ value: child, depth: depth + 1 })
  }
  return isFine ? 'fine' : 'ill-formed'
}

/** Recursive, so call it only on a shallow value. `fromEntries` makes a key `__proto__` an ordinary key. */
function repaired(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(repaired)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [wellFormed(key), repaired(child)]))
}

const leavesMax = 100
const visitsMax = 10_000

/** Every distinct non-blank string in a value, in order; for objects whose field names are not known. */
export function stringLeaves(root: unknown): readonly string[] {
  const leaves = new Set<string>()
  const waiting = [{ value: root, depth: 0 }]
  for (let visits = 0; visits < visitsMax && leaves.size < leavesMax; visits += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value, depth } = next
    if (typeof value === 'string' && !isBlank(value)) leaves.add(wellFormed(value))
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) continue
    const children: readonly unknown[] = Object.values(value)
    for (const child of children.slice(0, visitsMax).reverse()) waiting.push({ value: child, depth: depth + 1 })
  }
  return [...leaves]
}

/**
 * Parses JSON that may contain any number. A number that JavaScript would round, such as a 64-bit row id, becomes a
 * string of its digits: a rounded number is a wrong number.
 */
export const parseExactly = (text: string): { readonly value: unknown } | null =>
  parseJson(MAY_BE_ROUNDED.test(text) ? withDigitsAsText(text) : text)

/** Runs for every row. A number may be rounded if it has 16 digits, or an exponent. */
const MAY_BE_ROUNDED = /(?:^|[:,[\s])-?\d(?:\d{15}|[\d.]*e)/i

/** The parsed value if the text is JSON, otherwise the text. A single number stays text if parsing would round it. */
export function parsedOrText(text: string): unknown {
  const parsed = parseExactly(text)
  if (parsed === null) return text
  return typeof parsed.value === 'number' && String(parsed.value) !== text.trim() ? text : parsed.value
}

const mayBeRounded = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))

/** In valid JSON, digits outside strings occur only in numbers. A quote after an odd number of backslashes is escaped. */
function withDigitsAsText(text: string): string {
  let isInside = false
  const pieces = text.split('"').map((piece) => {
    const shown = isInside ? piece : piece.replace(/-?\d[\d.eE+-]*/g, exactNumber)
    let slashes = 0
    while (piece.at(-1 - slashes) === '\\') slashes += 1
    isInside = !isInside || slashes % 2 === 1
    return shown
  })
  return pieces.join('"')
}

/** A number in exponent notation stays a number if it is finite: its text is no more exact. */
function exactNumber(written: string): string {
  const value = Number(written)
  const isExact = !mayBeRounded(value) || String(value) === written
  return isExact || (Number.isFinite(value) && /e/i.test(written)) ? written : JSON.stringify(written)
}

/** Bytes that are not UTF-8 become U+FFFD, so that one broken character does not make the row unreadable. */
export function parseValue(value: string | Buffer): { readonly value: unknown } | IssueReason {
  if (value.length > constants.MAX_STRING_LENGTH) return 'too-large'
  return parseExactly(typeof value === 'string' ? value : value.toString('utf8')) ?? 'bad-json'
}

export function parseRow(value: string | Buffer) {
  const parsed = parseValue(value)
  if (typeof parsed === 'string') return { kind: 'issue' as const, reason: parsed }
  const record = asRecord(parsed.value)
  return record === null
    ? { kind: 'issue' as const, reason: 'not-an-object' as const }
    : { kind: 'record' as const, record }
}

/** The path of a URI, which is VS Code's URI object or a string. A string is returned unchanged. */
export function readUriPath(uri: unknown): string | null {
  return filledString(uri) ?? firstFilledIn(asRecord(uri), ['fsPath', 'path', 'external', 'relativeWorkspacePath'])
}

/** The path of an object that has a `uri`, or is a URI itself. */
export function readItemPath(item: unknown): string | null {
  return readUriPath(asRecord(item)?.['uri']) ?? readUriPath(item)
}

/** `default` and `auto` leave the choice to Cursor and are not models. */
export function readModelName(record: JsonRecord | null, field: string): string | null {
  const name = filledStringIn(record, field)
  return name === null || /^\s*(?:default|auto)\s*$/i.test(name) ? null : name
}

/** To-do items: objects or, in older builds, JSON strings. Items without text are dropped. */
export function decodeTodos(items: readonly unknown[]): readonly TodoItem[] {
  return items.map(decodeTodo).filter((item) => item !== null)
}

function decodeTodo(item: unknown): TodoItem | null {
  const record = parsedRecord(item)
  if (record === null) {
    const text = filledString(item)
    return text === null ? null : { id: null, content: text, status: null }
  }
  const content = filledStringIn(record, 'content')
  if (content === null) return null
  const id = filledStringIn(record, 'id') ?? numberIn(record, 'id')?.toString() ?? null
  return { id, content, status: filledStringIn(record, 'status') }
}

/** Most records have no evidence; all of them share this array. */
const noEvidence: readonly Evidence[] = []

/** Where a chat belongs, according to its own row in newer builds. */
export function decodeEvidence(chat: JsonRecord): readonly Evidence[] {
  const root = readWorkspaceUri(chat) ?? folderUri(chat['workspaceUri']) ?? readDraftTarget(chat)
  const repository = readFileUri(asRecord(listIn(chat, 'trackedGitRepos')[0])?.['repoPath'])
  return [...evidenceOf('workspace-identifier', root), ...evidenceOf('git-repo', repository)]
}

/**
 * The root of the window when a message was sent. If the window had several, the first counts: they are in the window's
 * order, and a chat belongs to one project.
 */
export function decodeMessageEvidence(record: JsonRecord): readonly Evidence[] {
  // The folders of its window that a request sent along in older builds.
  const layouts = evidenceOf('request-context', firstOf(listIn(record, 'projectLayouts'), readLayoutRoot))
  // Nearly every message comes through here, and almost none has these fields.
  if (record['workspaceUris'] === undefined && record['workspaceProjectDir'] === undefined) return layouts
  const root = firstOf(listIn(record, 'workspaceUris'), readFileUri) ?? readProjectFolder(record['workspaceProjectDir'])
  return root === null ? layouts : evidenceOf('workspace-uris', root)
}

/** `workspaceIdentifier`, in chats and heads. For a `.code-workspace` file it names that file. */
export function readWorkspaceUri(record: JsonRecord): string | null {
  const workspace = recordIn(record, 'workspaceIdentifier')
  return readUri(workspace?.['uri']) ?? readUri(workspace?.['configPath'])
}

/** The folder in which a chat was to begin, of a chat that names no other. */
export const readDraftTarget = (record: JsonRecord): string | null =>
  readFileUri(recordIn(recordIn(record, 'draftTarget'), 'environment')?.['uri'])

/** A URI, as text or as VS Code's URI object. */
export const readUri = (uri: unknown): string | null => filledString(uri) ?? uriText(asRecord(uri))

/** The URI of a local or remote file or folder, from a URI or an absolute path. Null for anything else. */
export function readFileUri(place: unknown): string | null {
  const text = filledString(place)
  const uri = text === null ? uriText(asRecord(place)) : hasScheme(text) ? text : uriOfPath(text)
  return uri !== null && /^(?:file|vscode-remote):/i.test(uri) ? uri : null
}

/** A drive letter is not a scheme. */
const hasScheme = (text: string): boolean => /^[a-z][a-z\d+.-]+:/i.test(text)

/** Plain text that is not a URI may be a name or an id, even if it begins like a path. */
const folderUri = (uri: unknown): string | null =>
  typeof uri === 'string' && !hasScheme(uri) ? null : readFileUri(uri)

function evidenceOf(method: EvidenceMethod, uri: string | null): readonly Evidence[] {
  return uri === null ? noEvidence : [{ method, uri }]
}

function firstOf<Item, Value>(items: readonly Item[], read: (item: Item) => Value | null): Value | null {
  for (const item of items) {
    const value = read(item)
    if (value !== null) return value
  }
  return null
}

/** Some builds name the folder in which Cursor stores its own notes about the project. */
function readProjectFolder(path: unknown): string | null {
  const uri = readFileUri(path)
  return uri === null || /[\\/]\.cursor[\\/]projects[\\/]/.test(uri) ? null : uri
}

/** How deep inside a layout its root may be named. The layout itself is a tree of all files. */
const layoutDepthMax = 3

function readLayoutRoot(layout: unknown): string | null {
  let level = [parsedRecord(layout)].filter((record) => record !== null)
  for (let depth = 0; depth < layoutDepthMax; depth += 1) {
    const named = level.flatMap((record) => [record['rootPath'], record['absPath']])
    const root = firstOf(named, readFileUri)
    if (root !== null) return root
    level = level.flatMap((record) => Object.values(record).map(asRecord)).filter((record) => record !== null)
  }
  return null
}

function uriText(uri: JsonRecord | null): string | null {
  return filledStringIn(uri, 'external') ?? uriOfParts(uri) ?? uriOfPath(filledStringIn(uri, 'fsPath'))
}

function uriOfParts(uri: JsonRecord | null): string | null {
  const scheme = filledStringIn(uri, 'scheme')
  const path = filledStringIn(uri, 'path')
  if (path === null) return null
  // Without a scheme, `fsPath` is more reliable than `path`, because it includes the drive.
  if (scheme === null) return filledStringIn(uri, 'fsPath') === null ? uriOfPath(path) : null
  return `${scheme}://${encoded(filledStringIn(uri, 'authority') ?? '')}${encoded(rooted(path))}`
}

/**
 * A file system path of any OS, recognised by its form, because a chat can come from another machine. Null for a
 * relative path.
 */
function uriOfPath(path: string | null): string | null {
  if (path === null) return null
  if (path.startsWith('\\\\')) return `file:${encoded(path.replaceAll('\\', '/'))}`
  if (/^[a-z]:[\\/]/i.test(path)) return `file://${encoded(rooted(path.replaceAll('\\', '/')))}`
  return path.startsWith('/') ? `file://${encoded(path)}` : null
}

const rooted = (path: string): string => (path.startsWith('/') ? path : `/${path}`)

/** Percent-encodes everything but the separators and a drive's colon. */
const encoded = (path: string): string => encodeURIComponent(path).replaceAll('%2F', '/').replaceAll('%3A', ':')

/**
 * September 2001 and February 2103. Smaller numbers are seconds, or times since the program started; larger ones are
 * garbage.
 */
const earliestMs = 1e12
const latestMs = 4.2e12

const isoShape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?)?\s*(z|[+-]\d{2}(?::?\d{2})?)?$/i

/**
 * Epoch milliseconds from any format that Cursor has used: an ISO string (UTC if it names no zone), a number, with or
 * without a fraction, or digits as a string. Null for a time at which Cursor did not exist.
 */
export function readTime(value: unknown): number | null {
  const time = typeof value === 'string' ? timeOfText(value.trim()) : value
  if (typeof time !== 'number') return null
  const atMs = Math.floor(time)
  return atMs > earliestMs && atMs < latestMs ? atMs : null
}

function timeOfText(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const match = isoShape.exec(text)
  if (match === null) return NaN
  const [, day = '', minute = '00:00', second = '00', fraction = '', zone = 'Z'] = match
  const offset = zone.slice(1).replace(':', '').padEnd(4, '0')
  const fullZone = zone.length === 1 ? 'Z' : `${zone.slice(0, 1)}${offset.slice(0, 2)}:${offset.slice(2)}`
  return Date.parse(`${day}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${fullZone}`)
}

/** A message's own times. Rows from before autumn 2025 have only their request timings. */
export function readRowTimes(record: JsonRecord) {
  const startedAtMs = readTime(record['startedAtMs'])
  // In many rows `clientStartTime` counts from the start of the window; the range check recognises an epoch time.
  const timing = recordIn(record, 'timingInfo')
  const timings = ['clientStartTime', 'clientRpcSendTime', 'clientSettleTime', 'clientEndTime']
  const timingAtMs = firstOf(timings, (name) => readTime(numberIn(timing, name)))
  const lastResortMs = timingAtMs === null ? readTime(record['timestamp']) : null
  return { sentAtMs: readTime(record['createdAt']) ?? startedAtMs ?? lastResortMs, startedAtMs, timingAtMs }
}

/** `Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)`; the space before AM may be a narrow one. */
const spokenShape =
  /^(?:[a-z]+,\s*)?([a-z]{3})[a-z]*\.?\s+(\d{1,2}),\s*(\d{4}),?\s+(?:at\s+)?(\d{1,2}(?::[0-5]\d){1,2})(?:\s*([ap])\.?m\.?)?\s*\((?:utc|gmt)([+\-−]\d{1,2}(?::?\d{2})?)?\)$/i

const isoWithZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(?:z|[+-]\d{2}:?\d{2})$/i

/** Epoch milliseconds. Null for a text that is no time, or names no zone and could be any moment of a day. */
export function readTimestamp(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed.length > 100) return null
  return isoWithZone.test(trimmed) ? readTime(trimmed) : spokenTime(trimmed)
}

function spokenTime(text: string): number | null {
  const [, month, day, year, clock, half, zone = '+0'] = spokenShape.exec(text) ?? []
  const date = `${month} ${day} ${year}`
  // February 30 would silently become March.
  if (new Date(`${date} UTC`).getUTCDate() !== Number(day)) return null
  return readTime(Date.parse(`${date} ${clock}${half === undefined ? '' : ` ${half}m`} GMT${zone.replace('−', '-')}`))
}
