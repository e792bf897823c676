import { hash as digest } from 'node:crypto'
import { listLiveMessages } from '../../../mirror/write/messages.ts'
import { lstatSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { filesOf, identityOf, listEntries } from '../../open-safely/cursor-file.ts'
import { type FileGroup, type FolderListing, writeFolder } from '../../open-safely/whole-store.ts'
import { ofFolder, read, skipped, type Source } from '../../source.ts'
import { pieceOf } from './pieces.ts'
import { readStore } from './read-store.ts'

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
    ...ofFolder({ kind: 'cli-store', decoder: 4, folder: place.folder, rank: RANK }),
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
export interface StoreFile extends FileGroup {
  /** Path relative to the folder, with slashes. */
  readonly key: string
  readonly path: string
  /** Cursor's `meta.json` beside the store. */
  readonly sidecarPath: string
  readonly chatId: ChatId
  /** MD5 of the path of the folder in which it was started, if its location contains it. */
  readonly folderHash: string | null
  readonly octets: number
}

const foldersIn = (path: string): string[] =>
  listEntries(path).flatMap((entry) => (entry.isDirectory() ? entry.name : []))

/** Every store, from `stat` alone. Links are skipped. */
function listStores({ folder, layout }: Place): readonly StoreFile[] {
  return foldersIn(folder).flatMap((name) =>
    layout === 'flat'
      ? storeAt(folder, name, null)
      : foldersIn(join(folder, name)).flatMap((inner) => storeAt(folder, inner, name)),
  )
}

function storeAt(folder: string, name: string, hash: string | null): StoreFile[] {
  const within = hash === null ? [name] : [hash, name]
  const path = join(folder, ...within, 'store.db')
  const sidecarPath = join(folder, ...within, 'meta.json')
  const [own, wal, journal] = filesOf(path).map(statOrNull)
  if (own?.isFile() !== true) return []
  // SQLite may change the owner of the files beside a store, so their change time is not used.
  const states = [stateOf(own), stateOf(wal, false), stateOf(journal, false), stateOf(statOrNull(sidecarPath))]
  const isHash = hash !== null && /^[0-9a-f]{32}$/i.test(hash)
  return [
    {
      key: within.join('/'),
      keys: [within.join('/')],
      path,
      sidecarPath,
      chatId: asChatId(name),
      folderHash: isHash ? hash.toLowerCase() : null,
      stamp: crc32(`${within.join('/')} ${states.join(' ')}`),
      octets: Number(own.size + (wal?.size ?? 0n)),
    },
  ]
}

const statOrNull = (path: string): BigIntStats | null =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null

/** @param withRights whether a change of permissions counts, because an unreadable file may be readable now */
function stateOf(stat: BigIntStats | null | undefined, withRights = true): string {
  if (stat === null || stat === undefined) return '-'
  const { dev, ino, size, mtimeNs, ctimeNs } = stat
  return `${dev}:${ino}:${size}:${mtimeNs}${withRights ? `:${ctimeNs}` : ''}`
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
  // Afterwards, so that a folder that vanishes meanwhile does not count as empty.
  const stat = lstatSync(place.folder, { bigint: true, throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return null
  const identity = identityOf(stat)
  const lines = groups.map(({ key, stamp }) => `${key}\0${stamp}`)
  return { identity, groups, signature: digest('sha256', [identity, ...lines].join('\n')) }
}
