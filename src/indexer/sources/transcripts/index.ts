import { constants } from 'node:buffer'
import { readdirSync, lstatSync, statSync } from 'node:fs'
import { join, extname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { isAbsence, mayBeFolder, mayExist } from '../../open-safely/cursor-file.ts'
import {
  writeFolder,
  type FileGroup,
  type FolderListing,
  type GroupContent,
  type NameMessage,
  type Piece,
  type WholeChat,
} from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/root-uri.ts'
import { closedFolder, read, skipped, sourceId, type Source } from '../../source.ts'
import { decodeFacts, madeId } from '../records/chat.ts'
import { decodeLines, decodeRecords } from './decode-json.ts'
import { decodeText } from './decode-text.ts'
import {
  folderSignature,
  listTranscripts,
  readTranscript,
  readWorkspacePath,
  type TranscriptFile,
  isWithoutFolder,
  resolveSlug,
} from './read.ts'
import { arrangeSteps, type Steps, type DecodedTranscript } from './transcript.ts'

const KIND = 'transcripts'
const DECODER = 3
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

/** Null if the folder may not be listed. */
function listProjects(root: string): Place[] | null {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .map((slug) => ({ slug, project: join(root, slug), folder: join(root, slug, 'agent-transcripts') }))
  } catch (error) {
    // No agent has run yet.
    if (isAbsence(error)) return []
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

function transcriptSource(place: Place): Source {
  const { project, folder } = place
  const signature = (): string | null => folderSignature(project, folder)
  return {
    id: sourceId(KIND, folder),
    kind: KIND,
    decoder: DECODER,
    path: folder,
    rank: RANK,
    folder,
    // Each chat has its own folder. Watching the parent shows new ones; `signature` shows changes inside.
    files: [],
    isAlwaysWarm: false,
    signature,
    async pass(mirror, num, request) {
      const now = signature()
      const skip = skipped(mirror, num, request, now)
      if (skip !== null) return skip
      await writeFolder(mirror, num, listChats(place, now), request, readChat)
      return read
    },
  }
}

/** A project's folder in Cursor's home. */
export interface Place {
  /** Cursor derives it from the path of the project's root. */
  readonly slug: string
  readonly project: string
  /** The folder with its transcripts. */
  readonly folder: string
}

/** All files of a chat in a folder, one for each format. One of them gives all messages. */
interface ChatFiles extends FileGroup {
  readonly files: readonly TranscriptFile[]
  readonly rootPath: string | null
  /** Cursor's name of the project's root if that is unknown; null for a window without a folder. */
  readonly slug: string | null
}

interface Reading {
  readonly file: TranscriptFile
  readonly octets: number
  readonly checksum: number | null
  readonly decoded: DecodedTranscript
  readonly issue: IssueReason | null
  /** How much of its chat the file contains, the most important number first; empty if it contains nothing. */
  readonly extent: readonly number[]
}

/** All transcripts of a project, by chat. */
function listChats(place: Place, signature: string | null): FolderListing<ChatFiles> {
  const { dev, ino } = lstatSync(place.folder, { bigint: true })
  const byChat = new Map<ChatId, TranscriptFile[]>()
  for (const file of listTranscripts(place.folder)) byChat.set(file.chatId, [...(byChat.get(file.chatId) ?? []), file])
  const rootPath = readWorkspacePath(place.project) ?? resolveSlug(place.slug, process.platform, listFolders)
  const slug = rootPath === null && !isWithoutFolder(place.slug) ? place.slug : null
  const groups = [...byChat.values()].map((files) => ({
    keys: files.map(({ key }) => key),
    // How the files are used depends on the project's root too.
    stamp: crc32(JSON.stringify([rootPath, ...files.flatMap(({ key, state }) => [key, state])])),
    files,
    rootPath,
    slug,
  }))
  return { identity: `${dev}:${ino}`, signature, groups }
}

/** One piece for each file. The chat comes from the most complete one. */
function readChat(chat: ChatFiles): GroupContent {
  const readings = chat.files.map(readFile)
  const chosen = readings.reduce<Reading | null>((best, next) => (isMoreComplete(next, best) ? next : best), null)
  return {
    pieces: readings.map((reading) => pieceOf(reading, reading === chosen, chat)),
    bytesRead: readings.reduce((sum, { octets, checksum }) => sum + (checksum === null ? 0 : octets), 0),
    // No file is locked or open while it is decoded.
    longestReadMs: 0,
  }
}

function readFile(file: TranscriptFile): Reading {
  const content = readTranscript(file)
  if (content.kind === 'issue') {
    return { file, octets: file.octets, checksum: null, decoded: nothing, issue: content.reason, extent: [] }
  }
  const { bytes } = content
  const decoded = decodeTranscript(bytes, file.chatId, nameMessage)
  const [octets, checksum] = [bytes.length, crc32(bytes)]
  return { file, octets, checksum, decoded, issue: issueOf(decoded), extent: extentOf(decoded, file) }
}

const nothing: DecodedTranscript = { messages: [], outline: [], issue: null, hasOnlyControl: false }

/** A file without any content is being rewritten: the mirror keeps the chat until the file has content again. */
const issueOf = ({ outline, issue, hasOnlyControl }: DecodedTranscript): IssueReason | null =>
  issue ?? (outline?.length === 0 && !hasOnlyControl ? 'null-value' : null)

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

function pieceOf(
  { file, octets, checksum, issue, decoded }: Reading,
  isChosen: boolean,
  { stamp, rootPath, slug }: ChatFiles,
): Piece {
  const { key, chatId, parentChatId } = file
  const bare: Piece = { key, octets, checksum, stamp, issue, chats: [], evidence: [], heads: [] }
  if (!isChosen) return bare
  const plain = decodeFacts({}, chatId, 'transcript')
  const chat: WholeChat = {
    id: chatId,
    facts: { ...plain, isSubagent: plain.isSubagent || parentChatId !== null, parentChatId },
    outline: decoded.outline,
    messages: decoded.messages,
    isByPlace: true,
    ...(slug === null ? {} : { slug }),
  }
  const evidence = rootPath === null ? [] : [{ method: 'transcript-folder' as const, uri: rootPath }]
  return { ...bare, chats: [chat], evidence: weighEvidence(chatId, evidence, { isOnly: false }) }
}

/** Subfolders, including links to folders, because a project may have been opened by a link. */
function listFolders(path: string): readonly string[] | null {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    const isFolder = (name: string): boolean =>
      statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory() ?? false
    return entries
      .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isFolder(entry.name)))
      .map((entry) => entry.name)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}

/**
 * Decodes a transcript file of any format. Total: any bytes become messages, nothing, or an issue. The format is
 * recognised by the first character and not by the name: files that end in `.txt` can contain JSON Lines.
 */
export function decodeTranscript(bytes: Buffer, chatId: ChatId, name: NameMessage): DecodedTranscript {
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    return { messages: [], outline: [], issue: 'too-large', hasOnlyControl: false }
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  return arrangeSteps(stepsIn(text), chatId, name)
}

function stepsIn(text: string): Steps {
  if (/^\s*\{/.test(text)) return decodeLines(text)
  if (!/^\s*\[/.test(text)) return decodeText(text)
  const records = decodeRecords(text)
  const decoded = records ?? decodeText(text)
  return records === null && decoded.steps.length === 0 ? { steps: [], issue: 'bad-json' } : decoded
}
