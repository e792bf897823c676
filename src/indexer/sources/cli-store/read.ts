import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import type { IssueReason } from '../../../model/issue.ts'
import * as files from '../../open-safely/cursor-file.ts'
import type { OpenFile } from '../../open-safely/cursor-file.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { walkState } from '../records/walk-state.ts'
import { asRecord, filledStringIn, isBlank, parseJson } from '../records/json.ts'
import { decodeStoreFacts, type StoreFacts, pieceOf } from './decode.ts'
import { listLiveMessages } from '../../../mirror/write/messages.ts'
import { join } from 'node:path'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { type FolderListing, writeFolder } from '../../open-safely/whole-store.ts'
import { ofFolder, read, skipped, type Source } from '../../source.ts'

interface Place {
  readonly folder: string
  /** `by-folder`: chats are below the hash of the folder in which they were started. `flat`: side by side. */
  readonly layout: 'by-folder' | 'flat'
}

/**
 * The messages as the model saw them: with the results of calls, unlike a transcript; without times, unlike the
 * editor's store.
 */
const RANK = 1

/** The chats of the command line in a folder of one of Cursor's home folders. */
export function cliStoreSource(place: Place): Source {
  return {
    ...ofFolder({ kind: 'cli-store', decoder: 3, folder: place.folder, rank: RANK }),
    signature: () => listFolder(place)?.signature ?? null,
    async pass(mirror, num, request) {
      const listing = listFolder(place)
      if (listing === null) return { kind: 'closed', state: 'missing', detail: null }
      const skip = skipped(mirror, num, request, listing.signature)
      if (skip !== null) return skip
      const busy = await writeFolder(mirror, num, listing, request, (store) => {
        const found = readStore(store)
        const listLive = () => listLiveMessages(mirror, store.chatId, num)
        return found === null ? null : { ...found, pieces: [pieceOf(store, found, listLive)] }
      })
      if (busy === 0) return read
      return { kind: 'closed', state: 'busy', detail: `Cursor is writing to the stores of ${busy} of its chats.` }
    },
  }
}

/** A chat's store, from the directory listing. */
export type StoreFile = ReturnType<typeof storeAt>[number]

const foldersIn = (path: string): string[] =>
  files.listEntries(path).flatMap((entry) => (entry.isDirectory() ? entry.name : []))

/** Every store, from `stat` alone. Links are skipped. */
function listStores({ folder, layout }: Place): readonly StoreFile[] {
  return foldersIn(folder).flatMap((name) =>
    layout === 'flat'
      ? storeAt(folder, name, null)
      : foldersIn(join(folder, name)).flatMap((inner) => storeAt(folder, inner, name)),
  )
}

function storeAt(folder: string, name: string, hash: string | null) {
  const key = hash === null ? name : `${hash}/${name}`
  const path = join(folder, key, 'store.db')
  /** Cursor's `meta.json` beside the store. */
  const sidecarPath = join(folder, key, 'meta.json')
  const [own, wal, journal] = files.filesOf(path).map(files.entryAt)
  if (!own?.isFile()) return []
  // SQLite may change the owner of the files beside a store, so their change time is not used.
  const states = [
    files.stateOf(own),
    files.stateOf(wal, false),
    files.stateOf(journal, false),
    files.stateOf(files.entryAt(sidecarPath)),
  ]
  return [
    {
      /** Path relative to the folder, with slashes. */
      key,
      keys: [key],
      path,
      sidecarPath,
      chatId: asChatId(name),
      /** MD5 of the path of the folder in which it was started, if its location contains it. */
      folderHash: hash !== null && /^[0-9a-f]{32}$/i.test(hash) ? hash.toLowerCase() : null,
      stamp: crc32(`${key} ${states.join(' ')}`),
      octets: Number(own.size + (wal?.size ?? 0n)),
    },
  ]
}

/**
 * Null if there is no such folder. A chat that was copied or moved by hand can be in two folders: the larger store counts.
 */
function listFolder(place: Place): FolderListing<StoreFile> | null {
  const byChat = new Map<ChatId, StoreFile>()
  for (const store of listStores(place)) {
    const before = byChat.get(store.chatId)
    if (before === undefined || before.octets < store.octets) byChat.set(store.chatId, store)
  }
  const groups = [...byChat.values()]
  const state = files.folderState(
    place.folder,
    groups.map(({ key, stamp }) => `${key}\0${stamp}`),
  )
  return state === null ? null : { ...state, groups }
}

const SIDECAR_BYTES_MAX = 1024 * 1024

/** The current content of a store. */
export type ReadStore = NonNullable<ReturnType<typeof readStore>>

/**
 * Reads one chat's store in short transactions. Blobs that the chat's newest state does not reach are not read.
 * @returns null if it may be readable in a moment. `chat`: null if nothing of it can be read. `issue`: why it cannot be read,
 * or a part of it. `octets`, `checksum`: size and CRC-32 of everything that the chat consists of
 */
export function readStore(store: Pick<StoreFile, 'path' | 'sidecarPath'>) {
  const file = files.openCursorFile(store.path)
  // It was deleted after it was listed: the next pass tells whether for good.
  if (file.kind === 'closed') return file.state === 'busy' || file.state === 'missing' ? null : unreadable
  try {
    const reader = new StoreReader(file)
    const sidecar = files.readPlainFile(store.sidecarPath, SIDECAR_BYTES_MAX)
    const { chat, issue } = readOpen(reader, sidecar.kind === 'bytes' ? sidecar.bytes : null)
    const { octets, checksum } = reader
    return { chat, issue, octets, checksum, bytesRead: file.bytesRead + octets, longestReadMs: file.longestReadMs() }
  } catch (error) {
    if (error instanceof files.UnknownLayout) return { ...unreadable, issue: 'unknown-shape' as const }
    const { state } = files.endedBy(error)
    return state === 'busy' || state === 'missing' ? null : unreadable
  } finally {
    file.close()
  }
}

const unreadable = {
  chat: null,
  issue: 'unreadable-page' as const,
  octets: 0,
  checksum: 0,
  bytesRead: 0,
  longestReadMs: 0,
}

const unread = (issue: IssueReason) => ({ chat: null, issue })

/** @param sidecarBytes null if there is no such file, or it cannot be read */
function readOpen(reader: StoreReader, sidecarBytes: Buffer | null) {
  const raw = reader.read(readFacts)
  if (raw === null) return unread(reader.read(listForeign).length === 0 ? 'null-value' : 'unknown-shape')
  for (const value of [...raw.values.values(), sidecarBytes]) reader.note(value)
  const facts = decodeStoreFacts(raw)
  if (facts === null) return unread('bad-json')
  const text = sidecarBytes?.toString('utf8') ?? ''
  const found = asRecord(parseJson(text)?.value)
  const sidecar = found ?? {}
  // Text that is not a JSON object. An empty file is about to be written.
  const beside: IssueReason | null = found === null && !isBlank(text) ? 'bad-json' : null
  const rootId = filledStringIn(facts.record, 'latestRootBlobId')?.trim() ?? null
  if (rootId === null) {
    const isLost = sidecar['hasConversation'] !== false && reader.read(hasBlobs)
    return isLost ? unread('missing-blob') : { chat: { facts, sidecar, walked: null }, issue: beside }
  }
  const root = reader.blobs([rootId]).get(rootId) ?? null
  if (root === null) return unread(reader.reasonOf(rootId))
  const walked = walkState(root, (ids) => reader.blobs(ids), rootId)
  const [first] = walked.issues
  const issue = first === undefined ? beside : reader.explain(first.key, first.reason, facts)
  if (issue !== null && walked.issues.some(({ key }) => key === rootId) && walked.entries.length === 0)
    return unread(issue)
  return { chat: { facts, sidecar, walked }, issue }
}

class StoreReader {
  readonly #file: OpenFile
  readonly #unread = new Map<string, IssueReason>()
  octets = 0
  checksum = 0

  constructor(file: OpenFile) {
    this.#file = file
  }

  read<Value>(use: (db: Database.Database) => Value): Value {
    return this.#file.read(use)
  }

  /** Adds data of the chat to size and checksum. */
  note(bytes: Buffer | null): void {
    this.octets += bytes?.length ?? 0
    this.checksum = crc32(bytes ?? '-', this.checksum)
  }

  /** As many as one short transaction reads, and at least one, at a time. */
  blobs(ids: readonly string[]): ReadonlyMap<string, Buffer | null> {
    const found = new Map<string, Buffer | null>()
    const readOne = (db: Database.Database, id: string): number => {
      const row = files.tryRead(() => prepared<{ octets: number | null; data: Buffer | null }>(db, READ_BLOB).get(id))
      const { octets, data } = row?.value ?? { octets: null, data: null }
      const reason = row === null ? 'unreadable-page' : octets === null ? 'missing-blob' : 'too-large'
      if (data === null) this.#unread.set(id, reason)
      found.set(id, data)
      this.note(data)
      return data?.length ?? 0
    }
    while (found.size < ids.length) {
      const rest = ids.slice(found.size)
      this.read((db) => files.readPortion(db, rest, this.#file.readMsMax, (id) => readOne(db, id)))
    }
    return found
  }

  /** Why a blob was not read. */
  reasonOf(id: string): IssueReason {
    return this.#unread.get(id) ?? 'missing-blob'
  }

  /** The walk only knows that a blob is missing or makes no sense; the store may know why. */
  explain(key: string, reason: IssueReason, { isEncrypted }: StoreFacts): IssueReason {
    if (reason === 'missing-blob') return this.reasonOf(key)
    return isEncrypted && (reason === 'bad-json' || reason === 'unknown-shape') ? 'encrypted' : reason
  }
}

/** Only these rows of the table of facts are read, because it also contains a key. */
const factNames = ['0', 'agentId', 'latestRootBlobId', 'name', 'mode', 'createdAt', 'lastUsedModel'] as const

const READ_FACT = `
select cast(value as blob) from meta where key = ? and octet_length(value) <= 1048576
`
const FIND_KEY = `select 1 from meta where key = 'blobEncryptionKey' and value <> ''`

export type RawFacts = NonNullable<ReturnType<typeof readFacts>>

/**
 * Null if the store does not have the expected tables.
 * @throws UnknownLayout if they are in an unknown form
 */
function readFacts(db: Database.Database) {
  const hasAll = [hasKnownTable(db, 'blobs', ['id', 'data'], 'key'), hasKnownTable(db, 'meta', ['key', 'value'], 'key')]
  if (hasAll.includes(false)) return null
  const values = new Map<string, Buffer>()
  for (const name of factNames) {
    const value = prepared<Buffer>(db, READ_FACT).pluck().get(name)
    if (value !== undefined) values.set(name, value)
  }
  return { values, hasKey: prepared(db, FIND_KEY).get() !== undefined }
}

const READ_BLOB = `
select octet_length(data) as octets, case when octet_length(data) <= ${files.VALUE_OCTETS_MAX} then cast(data as blob) end as data
from blobs where id = ?
`

const HAS_BLOB = `select 1 from blobs limit 1`

/** A store without blobs is a chat without messages. */
const hasBlobs = (db: Database.Database): boolean => prepared(db, HAS_BLOB).get() !== undefined

const LIST_FOREIGN = `
select name from sqlite_master
where type in ('table', 'view') and name not in ('blobs', 'meta') and name not like 'sqlite%'
`

/** Unknown tables. */
const listForeign = (db: Database.Database): readonly string[] => prepared<string>(db, LIST_FOREIGN).pluck().all()
