import { posix, win32 } from 'node:path'
import type { Mirror } from '../../mirror/open.ts'
import type { Page, PageRequest } from '../answers/common.ts'
import { inSnapshot, answerRow, type Row } from './rows.ts'
import type { ProjectId } from '../../model/ids.ts'
import { prepared } from '../../mirror/sql.ts'
import type { Project, ProjectRef } from '../answers/projects.ts'

/** A project `p` without chats and without a workspace is a leftover, and not listed. */
const IS_LISTED = `(
  exists (select 1 from chats c where c.project = p.num)
  or p.belongs_to is null and exists (select 1 from workspaces w where w.project = p.num)
)`
const COUNT_PROJECTS = `select count(*) from projects p where ${IS_LISTED}`

/** How many projects are listed in all. */
export const countProjects = (db: Mirror): number => prepared<number>(db, COUNT_PROJECTS).pluck().get() ?? 0

/** Counts the chats that are listed by default. Messages of subagents count too, because they are work on the project. */
const PROJECTS = `
  select
    p.id, p.name, p.path, p.uri,
    iif(p.remote_kind is null, null, json_object('kind', p.remote_kind, 'host', ifnull(p.remote_host, ''))) as remote,
    (select json_group_array(w.id) from (
      select distinct id from workspaces where project = p.num order by id
    ) w) as workspaceIds,
    coalesce(a.chatCount, 0) as chatCount, coalesce(a.messageCount, 0) as messageCount,
    a.firstActivityAt, a.lastActivityAt
  from projects p
  left join (
    select
      c.project,
      sum(c.message_count) filter (where c.is_draft = 0) as messageCount,
      count(*) filter (where ${isListed('c')}) as chatCount,
      min(coalesce(c.created_at, c.last_activity_at)) filter (where ${isListed('c')}) as firstActivityAt,
      max(c.last_activity_at) filter (where ${isListed('c')}) as lastActivityAt
    from chats c
    where c.project is not null and (@id is null or c.project = (select num from projects where id = @id))
    group by c.project
  ) a on a.project = p.num
  where iif(@id is null, ${IS_LISTED}, p.id = @id)
  order by a.lastActivityAt desc, p.name, p.path
  limit @limit offset @offset
`

function isListed(chats: string): string {
  return `${chats}.is_draft = 0 and ${chats}.message_count > 0 and ${chats}.is_subagent = 0`
}

const readProjects = (db: Mirror, request: PageRequest & { readonly id: ProjectId | null }): Project[] =>
  prepared<Row>(db, PROJECTS)
    .all(request)
    .map((row) => answerRow<Project>(row, ['remote', 'workspaceIds']))

/** One page of the projects, by last activity, unknown last, then by name. */
export const listProjects = (db: Mirror, request: PageRequest): Page<Project> =>
  inSnapshot(db, () => ({ items: readProjects(db, { id: null, ...request }), total: countProjects(db), ...request }))

/** One project, listed or not; null if none has this id. */
export const getProject = (db: Mirror, id: ProjectId): Project | null =>
  readProjects(db, { id, limit: 1, offset: 0 })[0] ?? null

/** A Windows path in the form that the mirror stores: a lower-case drive letter, and slashes. */
const storedPath = (path: string): string =>
  /^[a-z]:[/\\]/iu.test(path) ? path.charAt(0).toLowerCase() + path.slice(1).replaceAll('\\', '/') : path

const PROJECT_NUMS = `
  with wanted as (select value from json_each(?))
  select num
  from projects
  where id in (select value from wanted) or name in (select value from wanted) or path in (select value from wanted)
  order by num
`

/**
 * Row numbers of the projects that these words name. A word is an id, an exact name, or a path with or without a final
 * slash. If two projects share a name, both are found. An unknown word finds nothing.
 */
export function resolveProjects(db: Mirror, words: readonly string[]): number[] {
  const spellings = words.flatMap((word) => {
    const bare = word.replace(/(?<=[^/\\:])[/\\]+$/u, '')
    return [word, bare, storedPath(bare)]
  })
  // Some macOS disks store accents separately from their letters, and keyboards do not. Both look the same.
  const composed = spellings.flatMap((spelling) => [spelling, spelling.normalize('NFC'), spelling.normalize('NFD')])
  return prepared<number>(db, PROJECT_NUMS).pluck().all(JSON.stringify(composed))
}

/** The location of a project's files. */
export interface ProjectRoot {
  readonly num: number
  readonly name: string
  /** The folder, or the workspace file of several folders. */
  readonly path: string
  readonly uri: string
  /** 1 if the files are on this machine. */
  readonly isHere: 0 | 1
}

const ROOTS = `
  select p.num, p.name, p.path, p.uri, p.remote_kind is null and p.uri like 'file:///%' as isHere
  from projects p
  left join chats c on c.project = p.num
  group by p.num
  having count(c.num) > 0 or exists (select 1 from workspaces w where w.project = p.num)
  order by max(c.last_activity_at) desc, p.name, p.path
`

/** The roots of all listed projects, the last active first. */
export const listProjectRoots = (db: Mirror): ProjectRoot[] => prepared<ProjectRoot>(db, ROOTS).all()

const PLACES = `
  select p.uri, p.id, p.name, p.path, p.belongs_how as how, iif(o.num is null, null, json_object(
    'id', o.id, 'name', o.name, 'path', o.path
  )) as owner
  from projects p left join projects o on o.num = p.belongs_to
  where p.num in (select value from json_each(?))
  order by p.path
`

type Place = Pick<ProjectRoot, 'name' | 'path'> & { readonly id: ProjectId }

/** A project, and the one to which it belongs: its repository, another spelling of it, or one into which it was merged. */
export interface OwnedProject extends Place {
  readonly uri: string
  readonly how: 'named' | 'found' | 'spelt' | 'merged' | null
  readonly owner: Place | null
}

/** The projects with these numbers. */
export const listOwned = (db: Mirror, nums: readonly number[]): OwnedProject[] =>
  prepared<Row>(db, PLACES)
    .all(JSON.stringify(nums))
    .map((row) => answerRow<OwnedProject>(row, ['owner']))

const NAMED_PROJECTS = `select num, id, name from projects`

/** All projects, by number. */
export function readNamedProjects(db: Mirror): ReadonlyMap<number, ProjectRef> {
  const rows = prepared<ProjectRef & { readonly num: number }>(db, NAMED_PROJECTS).all()
  return new Map(rows.map(({ num, ...named }) => [num, named]))
}

/** The beginning of an absolute Windows path. Cursor also writes `/c:/shop`. */
const ON_WINDOWS = /^(?:\/?[a-z]:[\\/]|\\\\)/i

/**
 * One form of a path, to compare it: absolute, with slashes, and accents in one sign with their letters, which macOS
 * stores apart. Windows ignores case.
 * @param folder where a relative path starts
 */
export function comparablePath(path: string, folder: string): string {
  if (!ON_WINDOWS.test(folder)) return posix.resolve(folder, path).normalize('NFC')
  const [from = '', to = ''] = [folder, path].map((each) => each.replace(/^\/(?=[a-z]:)/i, ''))
  return win32.resolve(from, to).replaceAll('\\', '/').normalize('NFC').toLowerCase()
}

/** Whether an absolute path is a folder or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  const outer = comparablePath(folder, folder).replace(/\/?$/, '/')
  return `${comparablePath(path, path)}/`.startsWith(outer)
}

/** The folder of a project. For a workspace file of several folders, the folder of that file. */
export const folderOf = (path: string): string => path.replace(/[\\/][^\\/]+\.code-workspace$/, '') || '/'

/** The innermost project that has an absolute path, and the path below its root; null for any other path, and for a root. */
export function belowRoot(db: Mirror, given: string): { readonly num: number; readonly path: string } | null {
  if (!given.startsWith('/') && !ON_WINDOWS.test(given)) return null
  const path = comparablePath(given, given)
  const roots = listProjectRoots(db).map((project) => {
    const folder = folderOf(project.path)
    return { num: project.num, start: comparablePath(folder, folder).replace(/\/?$/, '/') }
  })
  const [inner] = roots
    .filter(({ start }) => path.startsWith(start) && path.length > start.length)
    .sort((one, other) => other.start.length - one.start.length)
  return inner === undefined ? null : { num: inner.num, path: path.slice(inner.start.length) }
}
