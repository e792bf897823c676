import type { Mirror } from '../../../mirror/open.ts'
import type { Page } from '../../answers/common.ts'
import type { PageRequest } from '../page.ts'
import { inSnapshot } from '../snapshot.ts'
import type { ProjectId } from '../../../model/ids.ts'
import { answerRow, type Row } from '../answer-row.ts'
import { prepared } from '../../../mirror/sql.ts'
import type { Project } from '../../answers/projects.ts'

/** A project without chats and without a workspace is a leftover, and not listed. */
const COUNT_PROJECTS = `
  select count(*)
  from projects p
  where exists (select 1 from chats c where c.project = p.num)
    or p.belongs_to is null and exists (select 1 from workspaces w where w.project = p.num)
`

/** One page of the projects, the last active first. */
export function listProjects(db: Mirror, request: PageRequest): Page<Project> {
  const { limit, offset } = request
  return inSnapshot(db, () => ({
    items: readProjects(db, { id: null, limit, offset }),
    total: countProjects(db),
    limit,
    offset,
  }))
}

/** How many projects are listed in all. */
export function countProjects(db: Mirror): number {
  return db.prepare<[], number>(COUNT_PROJECTS).pluck().get() ?? 0
}

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
      c.project, count(*) as chats,
      sum(c.message_count) filter (where c.is_draft = 0) as messageCount,
      count(*) filter (where ${isListed('c')}) as chatCount,
      min(coalesce(c.created_at, c.last_activity_at)) filter (where ${isListed('c')}) as firstActivityAt,
      max(c.last_activity_at) filter (where ${isListed('c')}) as lastActivityAt
    from chats c
    where c.project is not null and (@id is null or c.project = (select num from projects where id = @id))
    group by c.project
  ) a on a.project = p.num
  where case
    when @id is null then a.chats > 0 or p.belongs_to is null and exists (
      select 1 from workspaces w where w.project = p.num
    )
    else p.id = @id
  end
  order by a.lastActivityAt desc, p.name, p.num
  limit @limit offset @offset
`

function isListed(chats: string): string {
  return `${chats}.is_draft = 0 and ${chats}.message_count > 0 and ${chats}.is_subagent = 0`
}

/** Projects by last activity, unknown last, then by name. @param request `id` selects one project, listed or not */
export const readProjects = (db: Mirror, request: { id: string | null; limit: number; offset: number }): Project[] =>
  db
    .prepare<[object], Row>(PROJECTS)
    .all(request)
    .map((row) => answerRow<Project>(row, ['remote', 'workspaceIds']))

/** One project; null if none has this id. */
export function getProject(db: Mirror, id: ProjectId): Project | null {
  return readProjects(db, { id, limit: 1, offset: 0 })[0] ?? null
}

/** A Windows path in the form that the mirror stores: a lower-case drive letter, and slashes. */
const storedPath = (path: string): string =>
  /^[a-z]:[/\\]/iu.test(path) ? path.charAt(0).toLowerCase() + path.slice(1).replaceAll('\\', '/') : path

const PROJECT_NUMS = `
  with wanted as (select value from json_each(@spellings))
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
  const rows = prepared<{ num: number }>(db, PROJECT_NUMS).all({ spellings: JSON.stringify(composed) })
  return rows.map(({ num }) => num)
}
