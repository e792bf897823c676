import { hash as digest } from 'node:crypto'
import { wantUnmirrored } from '../hub/hub.ts'
import type { Mirror } from '../open.ts'
import { asking, finding, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
import { type Change, childrenOf } from '../../model/change.ts'
import { nextRevision, touchChat } from '../write/chat-columns.ts'
import type { ChatId } from '../../model/ids.ts'
import { isSettled, noteMerge, ownerOf, projectNum, settleOwners } from './owners.ts'

const saveWorkspace = writing<[source: number, id: string, uri: string, project: number]>(`
insert into workspaces (source, id, uri, project) values (?, ?, ?, ?)
on conflict (source, id) do update set uri = excluded.uri, project = excluded.project
where uri <> excluded.uri
`)

export function writeWorkspaces(db: Mirror, change: Change): void {
  for (const { id, root } of change.workspaces) saveWorkspace(db, change.source, id, root.uri, projectNum(db, root))
}

const addEvidence = writing<[ChatId, method: string, project: number, rank: number, notedAtMs: number]>(`
insert into evidence (chat_id, method, project, rank, noted_at) values (?, ?, ?, ?, ?)
on conflict (chat_id, method, project) do update set rank = excluded.rank, noted_at = excluded.noted_at
where excluded.rank < rank
`)
const dropFormer = writing<[ChatId, method: string, project: number]>(
  `delete from evidence where chat_id = ? and method = ? and project <> ?`,
)

/** Saves evidence, and moves the chats that belong to another project because of it. @returns the chats that moved */
export function writeEvidence(db: Mirror, change: Change): ChatId[] {
  const affected = new Set<ChatId>()
  for (const { chatId, method, rank, root, isOnly, notedAtMs = change.nowMs } of change.evidence) {
    const project = projectNum(db, root)
    const dropped = isOnly ? dropFormer(db, chatId, method, project) : 0
    const added = addEvidence(db, chatId, method, project, rank, notedAtMs)
    if (added > 0) affected.add(chatId)
    if (added + dropped > 0) touchChat(db, chatId)
  }
  for (const chat of change.chats) {
    affected.add(chat.id)
    for (const childId of childrenOf(chat)) affected.add(childId)
  }
  for (const head of change.metadata) affected.add(head.chatId)
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
    for (const child of listChildren(db, { id })) waiting.push(child)
  }
  return [...moved]
}

export const listChildren = listingValues<[{ readonly id: ChatId }], ChatId>(
  `select id from chats where parent_chat_id = @id union select child_id from chat_links where parent_id = @id`,
)

/** The parent's project beats own evidence of this rank or a higher number. */
export const PARENT_RANK = 75

/** The lowest rank decides; then the newest evidence, because a chat can move to another project; then the root's URI. */
const findEvidence = finding<[ChatId, from: number, below: number], Placement>(`
select project, method from evidence where chat_id = ? and rank >= ? and rank < ?
order by rank, noted_at desc, (select uri from projects where num = project) desc limit 1
`)
/** Of several parents, the one that the chat itself names; then by id. Numbers only tell which one was written first. */
const findParentProject = finding<[{ readonly id: ChatId }], Placement & { readonly worktree: number | null }>(`
select parents.project, 'parent' as method, parents.worktree from chats parents
where parents.project is not null and parents.id <> @id and parents.id in (
  select parent_chat_id from chats where id = @id union select parent_id from chat_links where child_id = @id
)
order by parents.id is not (select parent_chat_id from chats where id = @id), parents.id limit 1
`)

interface Placement {
  readonly project: number
  readonly method: string
}

function placeChat(db: Mirror, id: ChatId): boolean {
  const own = findEvidence(db, id, 0, PARENT_RANK)
  if (own !== undefined) return moveChat(db, id, own)
  const parent = findParentProject(db, { id })
  if (parent !== undefined) return settleChat(db, id, parent, parent.worktree)
  const weak = findEvidence(db, id, PARENT_RANK, Number.MAX_SAFE_INTEGER)
  return weak !== undefined && moveChat(db, id, weak)
}

/** A chat in a working tree belongs to the repository. @returns whether the chat's project or its method changed */
function moveChat(db: Mirror, id: ChatId, { project, method }: Placement): boolean {
  const { owner, worktree } = ownerOf(db, project)
  return settleChat(db, id, { project: owner, method }, worktree)
}

const MOVE_CHAT = `
update chats set project = @project, project_source = @method, worktree = @worktree, revision = @revision
where id = @id and (project is not @project or project_source is not @method or worktree is not @worktree)
`

const settleChat = (db: Mirror, id: ChatId, { project, method }: Placement, worktree: number | null): boolean =>
  prepared(db, MOVE_CHAT).run({ id, project, method, worktree, revision: nextRevision(db) }).changes > 0

const addPaths = writing<[ChatId, uris: string]>(
  `insert into chat_paths (chat_id, uri) select ?, value from json_each(?) where true on conflict do nothing`,
)
const dropPaths = writing<[ChatId, uris: string]>(
  `delete from chat_paths where chat_id = ? and uri not in (select value from json_each(?))`,
)

export function writePaths(db: Mirror, change: Change): void {
  for (const { chatId, uris } of change.paths) {
    const json = JSON.stringify(uris)
    if (dropPaths(db, chatId, json) + addPaths(db, chatId, json) > 0) touchChat(db, chatId)
  }
}

const FILES = 'files'
const FOLDER_HASH = 'folder-hash'
const FOLDER_NAME = 'folder-name'
/** Prefix of an entry for which only the MD5 of the path is known, as lower-case hex. */
const HASHED = 'md5:'
/** Prefix of an entry for which only the name is known that Cursor made of the path. */
const SLUG = 'slug:'

const UNPLACED = `(project is null or project_source in ('${FILES}', '${FOLDER_HASH}', '${FOLDER_NAME}'))`
const listUnplaced = listingValues<[], ChatId>(
  `select id from chats where ${UNPLACED} and id in (select chat_id from chat_paths)`,
)
const isUnplaced = asking<[ChatId]>(`select 1 from chats where id = ? and ${UNPLACED}`)
const listRoots = listing<[], RootRow>(
  `select num, uri, path from projects where num in (select project from evidence union select project from workspaces)`,
)
const listPaths = listingValues<[ChatId], string>(`select uri from chat_paths where chat_id = ?`)

interface RootRow {
  readonly num: number
  readonly uri: string
  readonly path: string
}

/**
 * Assigns projects to chats without better evidence: by the hash or the name of the folder under which the chat is stored,
 * or else by the files that the chat works on. The longest known root with more than half of those files wins. If there is none, the
 * chat stays without a project, because a folder that was never opened as a workspace would be a guess. If a new root or owner
 * became known since the last call, it checks all such chats, else only the touched ones.
 * @returns the chats that moved
 */
export function placeByPaths(db: Mirror, touched: ReadonlySet<ChatId>): ChatId[] {
  const isAll = !isSettled(db)
  return db.transaction(() => {
    const moved = isAll ? placeChats(db, settleOwners(db)) : []
    const unplaced = isAll ? listUnplaced(db) : [...touched].filter((id) => isUnplaced(db, id))
    if (unplaced.length === 0) return moved
    const rows = listRoots(db)
    const roots = new Map(rows.map(({ num, uri }) => [uri, num]))
    // Few mirrors need the hashes.
    let byHash: ReadonlyMap<string, number> | null = null
    let bySlug: ReadonlyMap<string, number | null> | null = null
    const placed = unplaced.flatMap((id) => {
      const uris = listPaths(db, id)
      const hashes = uris.filter((uri) => uri.startsWith(HASHED))
      if (hashes.length > 0) byHash ??= new Map(rows.flatMap((row) => hashesOf(row).map((hash) => [hash, row.num])))
      const [hashed] = hashes.flatMap((hash) => byHash?.get(hash) ?? [])
      const slugs = uris.flatMap((uri) => (uri.startsWith(SLUG) ? uri.slice(SLUG.length) : []))
      if (slugs.length > 0) bySlug ??= rootsBySlug(db, rows)
      const named = slugs.map((slug) => bySlug?.get(slugOf(slug)) ?? null).find((num) => num !== null)
      const files = uris.filter((uri) => !uri.startsWith(HASHED) && !uri.startsWith(SLUG))
      const project = hashed ?? named ?? rootOfMost(files, roots)
      const method = hashed === undefined ? (named === undefined ? FILES : FOLDER_NAME) : FOLDER_HASH
      if (project === null || !moveChat(db, id, { project, method })) return []
      return [id, ...placeChats(db, listChildren(db, { id }))]
    })
    return [...moved, ...placed]
  })()
}

/** Cursor's name for a path: each run of signs other than Latin letters and digits is `-`. On Windows, case varies. */
const slugOf = (path: string): string =>
  (/^[a-z]-|^[a-z]:/i.test(path) ? path.toLowerCase() : path).replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/**
 * The known roots by Cursor's names for them; null for a name that could be that of several projects. Roots on this machine
 * count before others.
 */
function rootsBySlug(db: Mirror, rows: readonly RootRow[]): ReadonlyMap<string, number | null> {
  const found = new Map<string, number | null>()
  for (const isLocal of [true, false]) {
    const taken = new Set(found.keys())
    for (const { num, uri, path } of rows) {
      const slug = slugOf(path)
      if (uri.startsWith('file:') !== isLocal || taken.has(slug) || slug === '') continue
      const before = found.get(slug)
      const isOther = before !== undefined && (before === null || ownerOf(db, before).owner !== ownerOf(db, num).owner)
      found.set(slug, isOther ? null : num)
    }
  }
  return found
}

/** Hashes of a local folder's path. A folder on a Windows drive has one hash for each spelling that a program may use. */
function hashesOf({ path, uri }: RootRow): string[] {
  if (!uri.startsWith('file:')) return []
  const [, drive, rest = ''] = /^([a-z]):(.*)$/s.exec(path) ?? []
  const drives = drive === undefined ? [] : [drive, drive.toUpperCase()]
  const spellings = drives.flatMap((letter) => [`${letter}:${rest}`, `${letter}:${rest.replaceAll('/', '\\')}`])
  return [...new Set([path, ...spellings])].map((spelling) => `${HASHED}${digest('md5', spelling)}`)
}

/**
 * Lets the chats of a project belong to another one, later ones too.
 * @param uri, target their root URIs; without a target the chats belong to their own again @returns the chats that moved
 */
export function mergeProject(db: Mirror, uri: string, target: string | null): ChatId[] {
  noteMerge(db, uri, target)
  return placeByPaths(db, new Set())
}

function rootOfMost(uris: readonly string[], roots: ReadonlyMap<string, number>): number | null {
  const counts = new Map<number, number>()
  for (const uri of uris) {
    const root = deepestRoot(uri, roots)
    if (root !== null) counts.set(root, (counts.get(root) ?? 0) + 1)
  }
  return [...counts].find(([, count]) => count * 2 > uris.length)?.[0] ?? null
}

function deepestRoot(uri: string, roots: ReadonlyMap<string, number>): number | null {
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    const root = roots.get(uri.slice(0, end))
    if (root !== undefined) return root
  }
  return null
}

/**
 * Stands for all excluded projects in the evidence of chats that are not mirrored, so that the mirror contains no name and
 * no path of them. Its path is a hash of the list.
 */
export const EXCLUDED_URI = 'cursordex:excluded'

/** The hash of the list of the last start; null if nothing was ever excluded. */
const readList = findingValue<[], string>(`select path from projects where uri = '${EXCLUDED_URI}'`)
const saveList = writing<[hash: string]>(`
insert into projects (id, uri, path, name) values ('excluded', '${EXCLUDED_URI}', ?, '')
on conflict (uri) do update set path = excluded.path
`)
const forgetEvidence = writing(
  `delete from evidence where project = (select num from projects where uri = '${EXCLUDED_URI}')`,
)
const readAllAgain = writing(`update sources set decoder = 0`)
const excluded = new WeakMap<Mirror, readonly string[]>()

/** The patterns of the projects that are not mirrored. */
export const excludedIn = (db: Mirror): readonly string[] => excluded.get(db) ?? []

const hashOf = (patterns: readonly string[]): string => digest('sha256', JSON.stringify(patterns))

/** Whether the mirror was read without the projects of this list, and without no others. */
export function leavesOut(db: Mirror, patterns: readonly string[]): boolean {
  const hash = readList(db)
  return hash === null ? patterns.length === 0 : hash === hashOf(patterns)
}

/**
 * Says for this connection which projects are not mirrored; once is enough. If the list differs from the one of the last
 * start, every source is read again, because rows of chats that were left out count as read. So do rows of the hub.
 * @param patterns names, ids and path globs
 */
export function excludeProjects(db: Mirror, patterns: readonly string[]): void {
  if (excluded.has(db)) return
  if (!leavesOut(db, patterns)) {
    const before = readList(db)
    db.transaction(() => {
      saveList(db, hashOf(patterns))
      forgetEvidence(db)
      if (before === null) return
      readAllAgain(db)
      wantUnmirrored(db)
    })()
  }
  excluded.set(db, patterns)
}
