import { constants } from 'node:buffer'
import { lstatSync } from 'node:fs'
import { join, extname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { findDelegated } from '../../../mirror/write/messages.ts'
import { textKey } from '../../../mirror/write/pack-message.ts'
import { listRowChats } from '../../../mirror/write/write.ts'
import type { ChatId } from '../../../model/ids.ts'
import { identityOf, listFolders, mayBeFolder, mayExist } from '../../open-safely/cursor-file.ts'
import {
  writeFolder,
  type FileGroup,
  type FolderListing,
  type GroupContent,
  type NameMessage,
  type Piece,
  type WholeChat,
} from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/find-root.ts'
import { closedFolder, ofFolder, read, skipped, type Source } from '../../source.ts'
import { decodeFacts, madeId } from '../records/chat.ts'
import { groupBy } from '../records/json.ts'
import { decodeLines, decodeRecords } from './decode-json.ts'
import { decodeText } from './decode-text.ts'
import { joinOutputs } from './outputs.ts'
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
const listProjects = (root: string): Place[] | null =>
  listFolders(root)
    ?.map((slug) => ({ slug, project: join(root, slug), folder: join(root, slug, 'agent-transcripts') }))
    .filter(({ project }) => mayBeFolder(project)) ?? null

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

interface Reading extends Pick<Piece, 'octets' | 'checksum' | 'issue'> {
  readonly file: TranscriptFile
  /** Null if the file cannot be read. */
  readonly decoded: DecodedTranscript | null
  /** How much of its chat the file contains, the most important number first; empty if it contains nothing. */
  readonly extent: readonly number[]
}

/** All transcripts of a project, by chat. */
function listChats(place: Place, signature: string | null): FolderListing<ChatFiles> {
  const byChat = groupBy(listTranscripts(place.folder), ({ chatId }) => chatId)
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

function readFile(file: TranscriptFile): Reading {
  const bytes = readTranscript(file)
  if (typeof bytes === 'string')
    return { file, octets: file.octets, checksum: null, decoded: null, issue: bytes, extent: [] }
  const decoded = decodeTranscript(bytes, file.chatId, nameMessage)
  const [octets, checksum] = [bytes.length, crc32(bytes)]
  return { file, octets, checksum, decoded, issue: decoded.issue, extent: extentOf(decoded, file) }
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
