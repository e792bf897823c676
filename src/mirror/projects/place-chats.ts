import { hash as digest } from 'node:crypto'
import type { Mirror } from '../open.ts'
import { projectIdOf } from './match-project.ts'
import { prepared } from '../sql.ts'
import { type Change, type Root, childrenOf } from '../../model/change.ts'
import { nextRevision, touchChat } from '../write/chat-columns.ts'
import type { ChatId } from '../../model/ids.ts'

const FIND_PROJECT = `select num from projects where uri = ?`
const ADD_PROJECT = `
insert into projects (id, uri, path, name, remote_kind, remote_host) values (?, ?, ?, ?, ?, ?) returning num
`

/** The project of this root; created if it does not exist. Its id is a hash of the normalised root URI. */
function projectNum(db: Mirror, root: Root): number {
  const found = prepared<{ num: number }>(db, FIND_PROJECT).get(root.uri)
  if (found !== undefined) return found.num
  const id = projectIdOf(root.uri)
  const { uri, path, name, remote } = root
  const added = prepared<{ num: number }>(db, ADD_PROJECT).get(id, uri, path, name, remote?.kind, remote?.host)
  if (added === undefined) throw new Error('an insert returned no row')
  return added.num
}

const UPSERT_WORKSPACE = `
insert into workspaces (source, id, uri, project) values (?, ?, ?, ?)
on conflict (source, id) do update set uri = excluded.uri, project = excluded.project
where uri <> excluded.uri
`

export function writeWorkspaces(db: Mirror, change: Change): void {
  for (const workspace of change.workspaces) {
    const project = projectNum(db, workspace.root)
    prepared(db, UPSERT_WORKSPACE).run(change.source, workspace.id, workspace.root.uri, project)
  }
}

const ADD_EVIDENCE = `
insert into evidence (chat_id, method, project, rank, noted_at) values (?, ?, ?, ?, ?)
on conflict (chat_id, method, project) do update set rank = excluded.rank, noted_at = excluded.noted_at
where excluded.rank < rank
`

const DROP_FORMER = `delete from evidence where chat_id = ? and method = ? and project <> ?`

/** Saves evidence, and moves the chats that belong to another project because of it. @returns the chats that moved */
export function writeEvidence(db: Mirror, change: Change): ChatId[] {
  const affected = new Set<ChatId>()
  for (const { chatId, method, rank, root, isOnly, notedAtMs = change.nowMs } of change.evidence) {
    const project = projectNum(db, root)
    const dropped = isOnly ? prepared(db, DROP_FORMER).run(chatId, method, project).changes : 0
    const added = prepared(db, ADD_EVIDENCE).run(chatId, method, project, rank, notedAtMs).changes
    if (added > 0) affected.add(chatId)
    if (added + dropped > 0) touchChat(db, chatId)
  }
  for (const chat of change.chats) {
    affected.add(chat.id)
    for (const childId of childrenOf(chat)) affected.add(childId)
  }
  for (const head of change.heads) affected.add(head.chatId)
  return placeChats(db, [...affected])
}

/**
 * Assigns chats to projects. When a chat moves, its subagents are assigned again, even if they were already. So the
 * result does not depend on the order of the chats. @returns the chats that moved
 */
export function placeChats(db: Mirror, chatIds: readonly ChatId[]): ChatId[] {
  const moved = new Set<ChatId>()
  const waiting = [...chatIds]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (!placeChat(db, id)) continue
    moved.add(id)
    waiting.push(...listChildren(db, id))
  }
  return [...moved]
}

const LIST_CHILDREN = `
select id from chats where parent_chat_id = ? union select child_id from chat_links where parent_id = ?
`
export const listChildren = (db: Mirror, id: ChatId): ChatId[] =>
  prepared<{ id: ChatId }>(db, LIST_CHILDREN)
    .all(id, id)
    .map((row) => row.id)

/** The parent's project beats own evidence of this rank or a higher number. */
export const PARENT_RANK = 75

/** The rank of the evidence that a transcript's folder gives. */
export const TRANSCRIPT_RANK = 60

/** The lowest rank decides; then the newest evidence, because a chat can move to another project; then the root's URI. */
const BEST_EVIDENCE = `
select project, method from evidence where chat_id = ? and rank >= ? and rank < ?
order by rank, noted_at desc, (select uri from projects where num = project) desc limit 1
`
/** Of several parents, the one that the chat itself names; then by id. Numbers only tell which one was written first. */
const PARENT_PROJECT = `
select parents.project, 'parent' as method from chats parents
where parents.project is not null and parents.id <> @id and parents.id in (
  select parent_chat_id from chats where id = @id union select parent_id from chat_links where child_id = @id
)
order by parents.id is not (select parent_chat_id from chats where id = @id), parents.id limit 1
`

interface Place {
  readonly project: number
  readonly method: string
}

function placeChat(db: Mirror, chatId: ChatId): boolean {
  const best =
    prepared<Place>(db, BEST_EVIDENCE).get(chatId, 0, PARENT_RANK) ??
    prepared<Place>(db, PARENT_PROJECT).get({ id: chatId }) ??
    prepared<Place>(db, BEST_EVIDENCE).get(chatId, PARENT_RANK, Number.MAX_SAFE_INTEGER)
  return best !== undefined && moveChat(db, chatId, best.project, best.method)
}

const MOVE_CHAT = `
update chats set project = ?, project_source = ?, revision = ?
where id = ? and (project is not ? or project_source is not ?)
`

/** @returns whether the chat's project or its method changed */
export const moveChat = (db: Mirror, chatId: ChatId, project: number, method: string): boolean =>
  prepared(db, MOVE_CHAT).run(project, method, nextRevision(db), chatId, project, method).changes > 0

const ADD_PATH = `insert into chat_paths (chat_id, uri) values (?, ?) on conflict do nothing`
const DROP_PATHS = `delete from chat_paths where chat_id = ?`

export function writePaths(db: Mirror, change: Change): void {
  for (const { chatId, uris } of change.paths) {
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
