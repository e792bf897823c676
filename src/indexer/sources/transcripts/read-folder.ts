import { lstatSync, readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import type { PassDepth } from '../../source.ts'
import type { NameMessage, Piece, WholeChat, WholeContent } from '../../open-safely/whole-store.ts'
import { decodeFacts } from '../records/chat/decode-facts.ts'
import { madeId } from '../records/chat/whole-chats.ts'
import { decodeTranscript } from './decode-transcript.ts'
import { listTranscripts, readTranscript, readWorkspacePath, type TranscriptFile } from './read.ts'
import { isWithoutFolder, resolveSlug } from './resolve-slug.ts'
import type { DecodedTranscript } from './transcript.ts'

/** A project's folder in Cursor's home. */
export interface Place {
  /** Cursor derives it from the path of the project's root. */
  readonly slug: string
  readonly project: string
  /** The folder with its transcripts. */
  readonly folder: string
}

/** What is known about a file since it was last read, without its text. */
interface Seen {
  readonly state: string
  readonly octets: number
  readonly checksum: number | null
  /** How much of its chat the file contains, the most important number first; empty if it contains nothing. */
  readonly extent: readonly number[]
  readonly issue: IssueReason | null
}

/** By the file's key. */
export type Memory = Map<string, Seen>

interface Reading extends Seen {
  readonly file: TranscriptFile
  readonly bytesRead: number
  readonly decode: () => DecodedTranscript
}

/**
 * All transcripts of a project. A file that is unchanged since the last pass is read only if the mirror does not have
 * it, or if every value is to be compared.
 */
export function readFolder(place: Place, memory: Memory, depth: PassDepth, signature: string | null): WholeContent {
  const { dev, ino } = lstatSync(place.folder, { bigint: true })
  const files = listTranscripts(place.folder)
  const rootPath = readWorkspacePath(place.project) ?? resolveSlug(place.slug, process.platform, listFolders)
  const slug = rootPath === null && !isWithoutFolder(place.slug) ? place.slug : null
  const readings = files.map((file) => readFile(file, depth === 'full' ? undefined : memory.get(file.key)))
  memory.clear()
  for (const { file, state, octets, checksum, extent, issue } of readings) {
    memory.set(file.key, { state, octets, checksum, extent, issue })
  }
  const chosen = mostComplete(readings)
  return {
    pieces: readings.map((reading) => pieceOf(reading, chosen.get(reading.file.chatId) === reading, rootPath, slug)),
    workspaces: [],
    identity: `${dev}:${ino}`,
    signature,
    bytesRead: readings.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    // No file is locked or open while it is decoded.
    longestReadMs: 0,
  }
}

function readFile(file: TranscriptFile, seen: Seen | undefined): Reading {
  if (seen?.state === file.state) return { ...seen, file, bytesRead: 0, decode: once(() => decodeFile(file)) }
  const { state } = file
  const content = readTranscript(file)
  if (content.kind === 'issue') {
    const unread = { octets: file.octets, checksum: null, extent: [], issue: content.reason }
    return { ...unread, state, file, bytesRead: 0, decode: () => nothing }
  }
  const { bytes } = content
  const decoded = decodeTranscript(bytes, file.chatId, nameMessage)
  const known = { octets: bytes.length, checksum: crc32(bytes), extent: extentOf(decoded, file) }
  return { ...known, state, file, issue: issueOf(decoded), bytesRead: bytes.length, decode: () => decoded }
}

function decodeFile(file: TranscriptFile): DecodedTranscript {
  const content = readTranscript(file)
  return content.kind === 'issue' ? nothing : decodeTranscript(content.bytes, file.chatId, nameMessage)
}

const nothing: DecodedTranscript = { messages: [], outline: [], issue: null, hasOnlyControl: false }

/** A file without any content is being rewritten: the mirror keeps the chat until the file has content again. */
const issueOf = ({ outline, issue, hasOnlyControl }: DecodedTranscript): IssueReason | null =>
  issue ?? (outline?.length === 0 && !hasOnlyControl ? 'null-value' : null)

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => (made ??= { value: make() }).value
}

/** The project is not part of the id, so that a chat in two projects has the same messages. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId(['transcript', chatId, ordinal])

/** For each chat, the file that contains most of it. A file without messages has no chat. */
function mostComplete(readings: readonly Reading[]): ReadonlyMap<ChatId, Reading> {
  const byChat = new Map<ChatId, Reading>()
  for (const reading of readings) {
    const { chatId } = reading.file
    const before = byChat.get(chatId)
    if (reading.extent.length > 0 && (before === undefined || isMoreComplete(reading, before)))
      byChat.set(chatId, reading)
  }
  return byChat
}

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

function isMoreComplete({ extent }: Reading, other: Reading): boolean {
  const at = extent.findIndex((share, place) => share !== other.extent[place])
  return at >= 0 && (extent[at] ?? 0) > (other.extent[at] ?? 0)
}

/** @param slug Cursor's name of the project's root if that is unknown; null for a window without a folder */
function pieceOf(reading: Reading, isChosen: boolean, rootPath: string | null, slug: string | null): Piece {
  const { file, octets, checksum, issue } = reading
  const evidence = rootPath === null ? [] : [{ method: 'transcript-folder' as const, uri: rootPath }]
  return {
    key: file.key,
    octets,
    // How a file is used depends on the project's root and on the other files of its chat.
    checksum: checksum === null ? null : crc32(JSON.stringify([rootPath, isChosen]), checksum),
    chats: isChosen ? [chatOf(reading, slug)] : [],
    evidence: isChosen ? weighEvidence(file.chatId, evidence, { isOnly: false }) : [],
    heads: [],
    issue,
  }
}

function chatOf({ file, decode }: Reading, slug: string | null): WholeChat {
  const { chatId, parentChatId } = file
  const plain = decodeFacts({}, chatId, 'transcript')
  return {
    id: chatId,
    facts: { ...plain, isSubagent: plain.isSubagent || parentChatId !== null, parentChatId },
    isByPlace: true,
    ...(slug === null ? {} : { slug }),
    get outline() {
      return decode().outline
    },
    get messages() {
      return decode().messages
    },
  }
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
