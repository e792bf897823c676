import { hash as digest } from 'node:crypto'
import type { ChatId } from '../../../model/ids.ts'
import type { Batch } from '../batch.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { touchChat } from '../revision.ts'
import { listChildren, moveChat, placeChats } from '../../projects/write-projects.ts'

const ADD_PATH = `insert into chat_paths (chat_id, uri) values (?, ?) on conflict do nothing`
const DROP_PATHS = `delete from chat_paths where chat_id = ?`

export function writePaths(db: Mirror, batch: Batch): void {
  for (const { chatId, uris } of batch.paths) {
    const before = listPaths(db, chatId)
    if (before.length === new Set(uris).size && before.every((uri) => uris.includes(uri))) continue
    prepared(db, DROP_PATHS).run(chatId)
    for (const uri of uris) prepared(db, ADD_PATH).run(chatId, uri)
    touchChat(db, chatId)
  }
}

const FILES = 'files'
const FOLDER_HASH = 'folder-hash'
/** Prefix of an entry for which only the MD5 of the path is known, as lower-case hex. */
const HASHED = 'md5:'

const LIST_UNPLACED = `
select distinct chats.id from chats join chat_paths on chat_paths.chat_id = chats.id
where project is null or project_source in ('${FILES}', '${FOLDER_HASH}')
`
const LIST_ROOTS = `
select num, uri, path from projects
where num in (select project from evidence union select project from workspaces)
`
const LIST_PATHS = `select uri from chat_paths where chat_id = ?`

const listPaths = (db: Mirror, id: ChatId): string[] =>
  prepared<{ uri: string }>(db, LIST_PATHS)
    .all(id)
    .map(({ uri }) => uri)

interface RootRow {
  readonly num: number
  readonly uri: string
  readonly path: string
}

/**
 * Assigns projects to chats without better evidence: by the hash of the folder under which the chat is stored, or else by
 * the files that the chat works on. The longest known root with more than half of those files wins. If there is none, the
 * chat stays without a project, because a folder that was never opened as a workspace would be a guess. If a new root
 * became known since the last call, it checks all such chats, else only the touched ones.
 * @returns the chats that moved
 */
export function placeByPaths(db: Mirror, touched: ReadonlySet<ChatId>): ChatId[] {
  const isAll = hasNewRoot(db)
  return db.transaction(() => {
    const unplaced = isAll ? prepared<{ id: ChatId }>(db, LIST_UNPLACED).all() : unplacedAmong(db, touched)
    if (unplaced.length === 0) return []
    const rows = prepared<RootRow>(db, LIST_ROOTS).all()
    const roots = new Map(rows.map(({ num, uri }) => [uri, num]))
    const byHash = new HashedRoots(rows)
    return unplaced.flatMap(({ id }) => {
      const uris = listPaths(db, id)
      const hashed = byHash.find(uris.filter((uri) => uri.startsWith(HASHED)))
      const files = uris.filter((uri) => !uri.startsWith(HASHED))
      const project = hashed ?? rootOfMost(files, roots)
      if (project === null || !moveChat(db, id, project, hashed === null ? FILES : FOLDER_HASH)) return []
      return [id, ...placeChats(db, listChildren(db, id))]
    })
  })()
}

/** Roots by the hash of their path. The hashes are computed on first use, because few mirrors need them. */
class HashedRoots {
  readonly #rows: readonly RootRow[]
  #nums: ReadonlyMap<string, number> | null = null

  constructor(rows: readonly RootRow[]) {
    this.#rows = rows
  }

  find(hashes: readonly string[]): number | null {
    if (hashes.length === 0) return null
    this.#nums ??= new Map(this.#rows.flatMap((row) => hashesOf(row).map((hash) => [hash, row.num] as const)))
    const [num] = hashes.flatMap((hash) => this.#nums?.get(hash) ?? [])
    return num ?? null
  }
}

/** Hashes of a local folder's path. A folder on a Windows drive has one hash for each spelling that a program may use. */
function hashesOf({ path, uri }: RootRow): string[] {
  if (!uri.startsWith('file:')) return []
  const [, drive, rest = ''] = /^([a-z]):(.*)$/s.exec(path) ?? []
  const drives = drive === undefined ? [] : [drive, drive.toUpperCase()]
  const spellings = drives.flatMap((letter) => [`${letter}:${rest}`, `${letter}:${rest.replaceAll('/', '\\')}`])
  return [...new Set([path, ...spellings])].map((spelling) => `${HASHED}${digest('md5', spelling)}`)
}

const IS_UNPLACED = `
select 1 from chats where id = ? and (project is null or project_source in ('${FILES}', '${FOLDER_HASH}'))
`

const unplacedAmong = (db: Mirror, ids: ReadonlySet<ChatId>): { id: ChatId }[] =>
  [...ids].flatMap((id) => (prepared(db, IS_UNPLACED).get(id) === undefined ? [] : [{ id }]))

const NEWEST_ROOT = `select coalesce(max(num), 0) as num from projects`
const newestSeen = new WeakMap<Mirror, number>()

/** Makes the next `placeByPaths` check all chats. Call it if chats were written without a call of `placeByPaths`. */
export const placeAllNext = (db: Mirror): boolean => newestSeen.delete(db)

/** Each root has a project, and projects are numbered in the order in which they became known. */
function hasNewRoot(db: Mirror): boolean {
  const newest = prepared<{ num: number }>(db, NEWEST_ROOT).get()?.num ?? 0
  if (newestSeen.get(db) === newest) return false
  newestSeen.set(db, newest)
  return true
}

function rootOfMost(uris: readonly string[], roots: ReadonlyMap<string, number>): number | null {
  const counts = new Map<number, number>()
  for (const uri of uris) {
    const root = deepestRoot(uri, roots)
    if (root !== null) counts.set(root, (counts.get(root) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most !== undefined && most[1] * 2 > uris.length ? most[0] : null
}

function deepestRoot(uri: string, roots: ReadonlyMap<string, number>): number | null {
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    const root = roots.get(uri.slice(0, end))
    if (root !== undefined) return root
  }
  return null
}
