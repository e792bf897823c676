import { hash as digest } from 'node:crypto'
import { lstatSync, readdirSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { filesOf } from '../../open-safely/cursor-file.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { identityOf } from '../../open-safely/file-identity.ts'

/** `by-folder`: chats lie below the hash of the folder they were begun in. `flat`: side by side. */
export type Layout = 'by-folder' | 'flat'

export interface Place {
  readonly folder: string
  readonly layout: Layout
}

/** A chat's store, as listed. */
export interface StoreFile {
  /** From the folder on, with slashes. */
  readonly key: string
  readonly path: string
  /** What Cursor writes down beside the store. */
  readonly sidecarPath: string
  readonly chatId: ChatId
  /** MD5 of the path of the folder it was begun in, where its place tells. */
  readonly folderHash: string | null
  /** Equal for a store that was not touched in between. */
  readonly state: string
  readonly octets: number
}

/** The stores of one chat: copied by hand, or moved, it can lie in two folders. */
export interface StoreGroup {
  readonly stores: readonly StoreFile[]
  /** Equal as long as none of them was touched, and none came or went. */
  readonly stamp: number
}

/**
 * Every store, by `stat` alone. Links are passed over, wherever they lead. Throws where a folder cannot be listed: what
 * is not seen would be taken for deleted.
 */
export function listStores({ folder, layout }: Place): readonly StoreFile[] {
  const found = listFolders(folder)
  if (layout === 'flat') return found.flatMap((name) => storeAt(folder, name, null))
  return found.flatMap((hash) =>
    unlessGone(() => listFolders(join(folder, hash))).flatMap((name) => storeAt(folder, name, hash)),
  )
}

const listFolders = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()

/** A folder can be deleted while the one above it is listed. */
function unlessGone(list: () => string[]): string[] {
  try {
    return list()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function storeAt(folder: string, name: string, hash: string | null): StoreFile[] {
  const within = hash === null ? [name] : [hash, name]
  const path = join(folder, ...within, 'store.db')
  const sidecarPath = join(folder, ...within, 'meta.json')
  const [own, wal, journal] = filesOf(path).map(statOrNull)
  if (own?.isFile() !== true) return []
  // SQLite itself may set the owner of what it keeps beside a store: the time of that is none of a change.
  const states = [stateOf(own), stateOf(wal, false), stateOf(journal, false), stateOf(statOrNull(sidecarPath))]
  const isHash = hash !== null && /^[0-9a-f]{32}$/i.test(hash)
  return [
    {
      key: within.join('/'),
      path,
      sidecarPath,
      chatId: asChatId(name),
      folderHash: isHash ? hash.toLowerCase() : null,
      state: states.join(' '),
      octets: Number(own.size),
    },
  ]
}

const statOrNull = (path: string): BigIntStats | null =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null

/** @param withRights whether to tell when rights changed too: a file that was shut may be open now */
function stateOf(stat: BigIntStats | null | undefined, withRights = true): string {
  if (stat === null || stat === undefined) return '-'
  const { dev, ino, size, mtimeNs, ctimeNs } = stat
  return `${dev}:${ino}:${size}:${mtimeNs}${withRights ? `:${ctimeNs}` : ''}`
}

/** In the order of their first stores. */
export function groupStores(stores: readonly StoreFile[]): readonly StoreGroup[] {
  const byChat = new Map<ChatId, StoreFile[]>()
  for (const store of stores) byChat.set(store.chatId, [...(byChat.get(store.chatId) ?? []), store])
  return [...byChat.values()].map((group) => ({ stores: group, stamp: crc32(group.map(lineOf).join('\n')) }))
}

const lineOf = ({ key, state }: StoreFile): string => `${key}\0${state}`

/** All stores of a folder at one moment, by `stat` alone. */
export interface Listing {
  /** Device and inode of the folder. */
  readonly identity: string
  /** Changes with every store that comes, goes or is touched. */
  readonly signature: string
  readonly stores: readonly StoreFile[]
}

/** Null while there is no such folder. */
export function listFolder(place: Place): Listing | null {
  const stat = lstatSync(place.folder, { bigint: true, throwIfNoEntry: false })
  if (stat?.isDirectory() !== true) return null
  const identity = identityOf(stat)
  const stores = listStores(place)
  return { identity, stores, signature: digest('sha256', [identity, ...stores.map(lineOf)].join('\n')) }
}
