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
/** In place of a path where only its MD5, as lower-case hex, is known. */
const HASHED = 'md5:'

const LIST_HOMELESS = `
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
 * Places the chats of which nothing tells where they belong but the folder whose hash they lie under, or else the files
 * they are about: under the longest known root that holds more than half of those files. Where no known root does, the
 * chat stays without a project: a folder that nobody opened as a workspace would be a guess. Looks at all of them where
 * a root became known since it was last asked, else at those touched.
 * @returns the chats that moved
 */
export function placeByPaths(db: Mirror, touched: ReadonlySet<ChatId>): ChatId[] {
  const isAll = hasNewRoot(db)
  return db.transaction(() => {
    const homeless = isAll ? prepared<{ id: ChatId }>(db, LIST_HOMELESS).all() : homelessAmong(db, touched)
    if (homeless.length === 0) return []
    const rows = prepared<RootRow>(db, LIST_ROOTS).all()
    const roots = new Map(rows.map(({ num, uri }) => [uri, num]))
    const byHash = new HashedRoots(rows)
    return homeless.flatMap(({ id }) => {
      const uris = listPaths(db, id)
      const hashed = byHash.find(uris.filter((uri) => uri.startsWith(HASHED)))
      const files = uris.filter((uri) => !uri.startsWith(HASHED))
      const project = hashed ?? rootOfMost(files, roots)
      if (project === null || !moveChat(db, id, project, hashed === null ? FILES : FOLDER_HASH)) return []
      return [id, ...placeChats(db, listChildren(db, id))]
    })
  })()
}

/** Roots by the hash of their path. Hashed at first need: few have chats that ask for it. */
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

/** Of a folder of this machine. Of one on a Windows drive each spelling that a program may have taken the hash of. */
function hashesOf({ path, uri }: RootRow): string[] {
  if (!uri.startsWith('file:')) return []
  const [, drive, rest = ''] = /^([a-z]):(.*)$/s.exec(path) ?? []
  const drives = drive === undefined ? [] : [drive, drive.toUpperCase()]
  const spellings = drives.flatMap((letter) => [`${letter}:${rest}`, `${letter}:${rest.replaceAll('/', '\\')}`])
  return [...new Set([path, ...spellings])].map((spelling) => `${HASHED}${digest('md5', spelling)}`)
}

const IS_HOMELESS = `
select 1 from chats where id = ? and (project is null or project_source in ('${FILES}', '${FOLDER_HASH}'))
`

const homelessAmong = (db: Mirror, ids: ReadonlySet<ChatId>): { id: ChatId }[] =>
  [...ids].flatMap((id) => (prepared(db, IS_HOMELESS).get(id) === undefined ? [] : [{ id }]))

const NEWEST_ROOT = `select coalesce(max(num), 0) as num from projects`
const newestSeen = new WeakMap<Mirror, number>()

/** To be said where chats were written and `placeByPaths` was not asked about them: it looks at all of them the next time. */
export const placeAllNext = (db: Mirror): boolean => newestSeen.delete(db)

/** Each root has a project, and those are numbered in the order in which they became known. */
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
