import { lstatSync, type Dirent } from 'node:fs'
import { join, parse, posix, win32, extname } from 'node:path'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import {
  entryAt,
  folderState,
  stateOf,
  listEntries,
  readPlainFile,
  listFolders,
  identityOf,
  mayBeFolder,
  mayExist,
} from '../../open-safely/cursor-file.ts'
import { filledString, parsedRecord, boundJson, filledStringIn, recordIn, groupBy } from '../records/json.ts'
import type Database from 'better-sqlite3'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { listPendingOutputs, listReferringChats, type OpenReference } from '../../../mirror/write/references.ts'
import { writeChange, listRowChats } from '../../../mirror/write/write.ts'
import { type AnswerWrite, emptyChange } from '../../../model/change.ts'
import type { Json } from '../../../model/json.ts'
import { whileOpen, type PassRequest, closedFolder, ofFolder, read, skipped, type Source } from '../../source.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { readPayload } from '../records/tool.ts'
import { constants } from 'node:buffer'
import { crc32 } from 'node:zlib'
import * as held from '../../../mirror/sources/sources.ts'
import { findDelegated } from '../../../mirror/write/messages.ts'
import { textKey } from '../../../mirror/write/pack-message.ts'
import {
  writeFolder,
  type GroupContent,
  type NameMessage,
  type Piece,
  type WholeChat,
} from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/root-uri.ts'
import { decodeFacts, madeId } from '../records/chat.ts'
import { decodeLines, decodeRecords, decodeText } from './decode.ts'
import { OUTPUT_FILE, arrangeSteps, type Steps, type DecodedTranscript } from './transcript.ts'

const KIND = 'transcripts'
/** A transcript has no ids, no times and no results of calls: every other source of a chat is more complete. */
const RANK = 3

/**
 * The transcripts of every project in one of Cursor's home folders.
 * @param home such as `~/.cursor`
 */
export function transcriptSources(home: string): Source[] {
  const root = nursery(home)
  const projects = listProjects(root)?.filter(({ folder }) => mayBeFolder(folder))
  return projects?.map(transcriptSource) ?? [closedFolder(KIND, root, RANK)]
}

/** The folders of transcripts in projects that have none. */
export const absentTranscripts = (home: string): string[] =>
  (listProjects(nursery(home)) ?? []).map(({ folder }) => folder).filter((folder) => !mayExist(folder))

/** The folder in which Cursor creates a folder for each project. */
export const nursery = (home: string): string => join(home, 'projects')

/** The folders of projects in Cursor's home; null if they may not be listed. */
const listProjects = (root: string) =>
  listFolders(root)
    ?.map((slug) => ({
      /** Cursor derives it from the path of the project's root. */
      slug,
      project: join(root, slug),
      /** The folder with its transcripts. */
      folder: join(root, slug, 'agent-transcripts'),
    }))
    .filter(({ project }) => mayBeFolder(project)) ?? null

type Place = NonNullable<ReturnType<typeof listProjects>>[number]

function transcriptSource(place: Place): Source {
  const { project, folder } = place
  const signature = (): string | null => folderSignature(project, folder)
  return {
    ...ofFolder({ kind: KIND, decoder: 5, folder, rank: RANK }),
    signature,
    async pass(mirror, num, request) {
      const now = signature()
      const skip = skipped(mirror, num, request, now)
      if (skip !== null) return skip
      const chatOf = (reading: Reading): ChatId => findChat(mirror, num, reading)
      await writeFolder(mirror, num, listChats(place, now), request, (chat) => readChat(chat, chatOf))
      await joinOutputs(mirror, num, project, request)
      return read
    },
  }
}

/** All files of a chat in a folder, one for each format. One of them gives all messages. */
type ChatFiles = ReturnType<typeof listChats>['groups'][number]

/** All transcripts of a project, by chat. */
function listChats(place: Place, signature: string | null) {
  const byChat = groupBy(listTranscripts(place.folder), ({ chatId }) => chatId)
  const rootPath = readWorkspacePath(place.project) ?? resolveSlug(place.slug, process.platform, listFolders)
  /** Cursor's name of the project's root if that is unknown; null for a window without a folder. */
  const slug = rootPath === null && !isWithoutFolder(place.slug) ? place.slug : null
  const groups = [...byChat.values()].map((files) => ({
    keys: files.map(({ key }) => key),
    // How the files are used depends on the project's root too.
    stamp: crc32(JSON.stringify([rootPath, ...files.flatMap(({ key, state }) => [key, state])])),
    files,
    rootPath,
    slug,
  }))
  // Afterwards, so that a folder that vanishes meanwhile does not count as empty.
  return { identity: identityOf(lstatSync(place.folder, { bigint: true })), signature, groups }
}

/** One piece for each file. The chat comes from the most complete one. */
function readChat(chat: ChatFiles, chatOf: (reading: Reading) => ChatId): GroupContent {
  const readings = chat.files.map(readFile)
  const chosen = readings.reduce<Reading | null>((best, next) => (isMoreComplete(next, best) ? next : best), null)
  return {
    pieces: readings.map((reading) => pieceOf(reading, reading === chosen ? chatOf(reading) : null, chat)),
    bytesRead: readings.reduce((sum, { octets, checksum }) => sum + (checksum === null ? 0 : octets), 0),
    // No file is locked or open while it is decoded.
    longestReadMs: 0,
  }
}

type Reading = ReturnType<typeof readFile>

function readFile(file: TranscriptFile) {
  const bytes = readTranscript(file)
  const content = typeof bytes === 'string' ? null : bytes
  /** Null if the file cannot be read. */
  const decoded = content === null ? null : decodeTranscript(content, file.chatId, nameMessage)
  return {
    file,
    octets: content?.length ?? file.octets,
    checksum: content === null ? null : crc32(content),
    decoded,
    issue: typeof bytes === 'string' ? bytes : (decoded?.issue ?? null),
    /** How much of its chat the file contains, the most important number first; empty if it contains nothing. */
    extent: decoded === null ? [] : extentOf(decoded, file),
  }
}

/** The project is not part of the id, so that a chat in two projects has the same messages. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId(['transcript', chatId, ordinal])

/**
 * The number of prompts counts first, then whether the last one is answered. With the same number, text loses to the
 * other formats, because lines of a quoted file can look like messages. Then the number of messages counts, and after
 * that the newer format.
 */
function extentOf({ messages, ...rest }: DecodedTranscript, { key }: TranscriptFile): readonly number[] {
  if (messages.length === 0) return []
  const prompts = rest.prompts ?? messages.filter(({ role }) => role === 'user').length
  const isAnswered = messages.at(-1)?.role === 'assistant'
  const form = ['.txt', '.json', '.jsonl'].indexOf(extname(key).toLowerCase())
  return [prompts, Number(isAnswered), Math.min(form, 1), messages.length, Number(key.includes('/')), form]
}

/** A file without messages has no chat. */
function isMoreComplete({ extent }: Reading, other: Reading | null): boolean {
  const at = extent.findIndex((share, place) => share !== other?.extent[place])
  return at >= 0 && (extent[at] ?? 0) > (other?.extent[at] ?? -1)
}

/**
 * The chat of a transcript. A subagent can also have a chat in the global store, under an id that older builds made of the
 * call's: it is one chat. The transcript stays with the chat that it was first read as.
 */
function findChat(mirror: Mirror, num: number, { file: { key, chatId, parentChatId }, decoded }: Reading): ChatId {
  const row = parentChatId === null ? undefined : held.findHeldRow(mirror, num, key)
  const [before] = row === undefined || row.rowid === held.OUTDATED_ROWID ? [] : listRowChats(mirror, num, key)
  const text = textKey(decoded?.messages.find(({ role }) => role === 'user')?.parts ?? [])
  if (before !== undefined || parentChatId === null || text === null) return before ?? chatId
  return findDelegated(mirror, parentChatId, text) ?? chatId
}

/** @param chatId null if another file gives the chat */
function pieceOf(
  { file, octets, checksum, issue, decoded }: Reading,
  chatId: ChatId | null,
  { stamp, rootPath, slug }: ChatFiles,
): Piece {
  const { key, parentChatId } = file
  const bare: Piece = { key, octets, checksum, stamp, issue, chats: [], evidence: [], metadata: [] }
  if (chatId === null || decoded === null) return bare
  const plain = decodeFacts({}, chatId, 'transcript')
  const chat: WholeChat = {
    id: chatId,
    facts: {
      ...plain,
      isSubagent: plain.isSubagent || parentChatId !== null,
      parentChatId,
      // So that a purge of the chat also bars the id that the transcript alone would have.
      childChatIds: chatId === file.chatId ? [] : [file.chatId],
    },
    outline: decoded.outline,
    messages: decoded.messages,
    isByPlace: true,
    ...(slug === null ? {} : { slug }),
  }
  const paths = slug === null ? [] : [{ chatId, uris: [`slug:${slug}`] }]
  const evidence = rootPath === null ? [] : [{ method: 'transcript-folder' as const, uri: rootPath }]
  return { ...bare, chats: [chat], evidence: weighEvidence(chatId, evidence, { isOnly: false }), paths }
}

/**
 * Decodes a transcript file of any format. Total: any bytes become messages, nothing, or an issue. The format is
 * recognised by the first character and not by the name: files that end in `.txt` can contain JSON Lines.
 */
export function decodeTranscript(bytes: Buffer, chatId: ChatId, name: NameMessage): DecodedTranscript {
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    return { messages: [], outline: [], issue: 'too-large' }
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  return arrangeSteps(stepsIn(text), chatId, name)
}

function stepsIn(text: string): Steps {
  if (/^\s*\{/.test(text)) return decodeLines(text)
  const records = /^\s*\[/.test(text) ? decodeRecords(text) : null
  if (records !== null) return records
  const decoded = decodeText(text)
  return text.trimStart().startsWith('[') && decoded.steps.length === 0 ? { steps: [], issue: 'bad-json' } : decoded
}

/** Cursor's own limit is unknown; the largest known transcripts are far smaller. */
const FILE_BYTES_MAX = 32 * 1024 * 1024

/** A transcript's file, from the directory listing. */
export type TranscriptFile = ReturnType<typeof fileAt>[number]

/** @param parentChatId the chat in whose folder a subagent's transcript is */
function fileAt(folder: string, within: readonly string[], { name }: Dirent, parentChatId: ChatId | null = null) {
  const path = join(folder, ...within, name)
  const stat = entryAt(path)
  if (!stat?.isFile()) return []
  /** Path relative to the folder of transcripts, with slashes. */
  const key = [...within, name].join('/')
  return [
    { key, path, chatId: asChatId(parse(name).name), parentChatId, octets: Number(stat.size), state: stateOf(stat) },
  ]
}

/**
 * All transcripts in their folder, from `stat` alone: `<id>`, `<id>/<id>` and `<id>/subagents/<sid>`, each as `.txt`,
 * `.json` or `.jsonl`. Links are skipped.
 */
function listTranscripts(folder: string): readonly TranscriptFile[] {
  return listEntries(folder).flatMap((entry) => {
    if (!entry.isDirectory()) return isTranscript(entry) ? fileAt(folder, [], entry) : []
    return listEntries(join(folder, entry.name)).flatMap((inner) => {
      if (isTranscript(inner)) return parse(inner.name).name === entry.name ? fileAt(folder, [entry.name], inner) : []
      if (!inner.isDirectory() || inner.name !== 'subagents') return []
      const within = [entry.name, inner.name]
      const agents = listEntries(join(folder, ...within)).filter(isTranscript)
      return agents.flatMap((agent) => fileAt(folder, within, agent, asChatId(entry.name)))
    })
  })
}

const isTranscript = (entry: Dirent): boolean => entry.isFile() && /^.+\.(?:jsonl?|txt)$/i.test(entry.name)

const trustFile = (project: string): string => join(project, '.workspace-trusted')

/** The state of a project's transcripts and of the file that names its root. Null if there is no such folder. */
function folderSignature(project: string, folder: string): string | null {
  const trust = entryAt(trustFile(project))
  const states = listTranscripts(folder).map(({ key, state }) => `${key}\0${state}`)
  const lines = [trust === null ? '-' : `${trust.size}:${trust.mtimeNs}`, ...states]
  return folderState(folder, lines)?.signature ?? null
}

/** Its bytes, or why it cannot be read. */
export function readTranscript({ path }: Pick<TranscriptFile, 'path'>): Buffer | IssueReason {
  const file = readPlainFile(path, FILE_BYTES_MAX)
  if (file.kind === 'bytes') return file.bytes
  return file.kind === 'too-large' ? 'too-large' : 'unreadable-page'
}

/** The root folder according to the project's own file; null if there is no such file, or it names none. */
export function readWorkspacePath(project: string): string | null {
  const bytes = readTranscript({ path: trustFile(project) })
  return typeof bytes === 'string' ? null : filledString(parsedRecord(bytes.toString('utf8'))?.['workspacePath'])
}

/** Names of the folders in a folder; null if it cannot be listed. */
export type ListFolders = (path: string) => readonly string[] | null

/** A longer search is given up: it would find several answers, or none. */
const LISTINGS_MAX = 200

/**
 * The folder from whose path Cursor made a project's name, if there is exactly one candidate. The name is lossy: every
 * character that is not a Latin letter or a digit became `-`, so `a-b` is `a/b`, `a-b`, `a.b` or `a b`. Null if no
 * candidate exists, if several exist, or if a folder on the way cannot be listed.
 */
export function resolveSlug(slug: string, platform: NodeJS.Platform, list: ListFolders): string | null {
  const start = startOf(slug, platform)
  if (start === null) return null
  const paths = platform === 'win32' ? win32 : posix
  const waiting = [start]
  const matches: string[] = []
  for (let listings = 0; waiting.length > 0; listings += 1) {
    const { path, rest } = waiting.pop() ?? start
    const names = listings < LISTINGS_MAX ? list(path) : null
    if (names === null) return null
    if (rest === '') matches.push(path)
    for (const name of names) {
      const after = restAfter(slugOf(name), rest)
      if (after !== null) waiting.push({ path: paths.join(path, name), rest: after })
    }
  }
  return matches.length === 1 ? (matches[0] ?? null) : null
}

/** A window without a folder has a fixed name, or only the digits of its id. */
export const isWithoutFolder = (slug: string): boolean => slug === 'empty-window' || /^\d*$/.test(slug)

/** `rest` is the part of the slug that the path does not cover yet. */
function startOf(slug: string, platform: NodeJS.Platform): { readonly path: string; readonly rest: string } | null {
  if (isWithoutFolder(slug)) return null
  if (platform !== 'win32') return { path: '/', rest: slugOf(slug) }
  const [, drive, rest] = /^([a-z])-+(.+)$/i.exec(slug) ?? []
  return drive === undefined || rest === undefined ? null : { path: `${drive}:\\`, rest: slugOf(rest) }
}

/** Some versions write one `-` per character, others one per run of characters. Treating a run as one covers both. */
const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/** A name without Latin letters and digits leaves nothing in the slug. */
function restAfter(name: string, rest: string): string | null {
  if (name === '') return rest
  if (name === rest) return ''
  return rest.startsWith(`${name}-`) ? rest.slice(name.length + 1) : null
}

const OUTPUT_BYTES_MAX = 1024 * 1024
const EVENTS_MAX = 20_000

/**
 * Looks for outputs that messages of a project's transcripts leave out. What is not found is looked for again when a transcript
 * of the project changes.
 * @param project its folder in Cursor's home
 */
export async function joinOutputs(mirror: Mirror, num: number, project: string, request: PassRequest): Promise<void> {
  for (const { id } of listReferringChats(mirror, { source: num, after: 0 })) {
    const answers: AnswerWrite[] = []
    const calls: OpenReference[] = []
    for (const ask of listPendingOutputs(mirror, num, id)) {
      const [, name] = OUTPUT_FILE.exec(ask.name) ?? []
      if (name === undefined) calls.push(ask)
      const file = name === undefined ? null : readPlainFile(join(project, 'agent-tools', name), OUTPUT_BYTES_MAX)
      if (file?.kind === 'bytes') answers.push({ ask: ask.num, value: file.bytes.toString('utf8'), cappedFrom: null })
    }
    if (calls.length > 0) answers.push(...(await findInStores(project, id, calls)))
    if (answers.length === 0) continue
    const outcome = writeChange(mirror, { ...emptyChange, answers, source: num, nowMs: request.now() })
    await request.turn({ outcome })
  }
}

/** What a program of the SDK kept of its runs: `sdk-agent-store/<hash of the folder>/index.db`. */
async function findInStores(project: string, id: ChatId, asks: readonly OpenReference[]): Promise<AnswerWrite[]> {
  const folder = join(project, 'sdk-agent-store')
  const found: AnswerWrite[] = []
  for (const name of listFolders(folder) ?? []) {
    // A store that is absent, busy or damaged is looked at again later.
    const results = await whileOpen(join(folder, name, 'index.db'), async (file) =>
      Promise.resolve(file.read((db) => readResults(db, id))),
    ).catch(() => null)
    if (results === null || 'state' in results) continue
    for (const ask of asks) {
      const value = results.get(ask.name)
      if (value !== undefined) found.push({ ask: ask.num, value, cappedFrom: null })
    }
  }
  return found
}

/** Only these columns are read. */
const LIST_EVENTS = `
select payload_json from run_events where run_id in (select run_id from runs where agent_id = ?)
  and event_type = 'run_stream_event' and typeof(payload_json) = 'text' and octet_length(payload_json) <= ${OUTPUT_BYTES_MAX}
order by run_id, seq limit ${EVENTS_MAX}
`

/** By the call's id. Of several events of a call, the last one with a result counts. */
function readResults(db: Database.Database, id: ChatId): ReadonlyMap<string, Json> {
  const results = new Map<string, Json>()
  const hasAll =
    hasKnownTable(db, 'runs', ['run_id', 'agent_id'], 'key') &&
    hasKnownTable(db, 'run_events', ['run_id', 'seq', 'event_type', 'payload_json'], 'key')
  if (!hasAll) return results
  for (const payload of prepared<string>(db, LIST_EVENTS).pluck().iterate(id)) {
    const message = recordIn(parsedRecord(payload), 'message')
    const callId = message?.['type'] === 'tool_call' ? filledStringIn(message, 'call_id') : null
    const value = recordIn(message, 'result')?.['value'] ?? message?.['result'] ?? null
    if (callId !== null && value !== null) results.set(callId, boundJson(readPayload(value)).value)
  }
  return results
}
