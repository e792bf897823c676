import type { Mirror } from '../../../mirror/open.ts'
import type { ProjectId } from '../../../model/ids.ts'
import { prepared } from '../../../mirror/sql.ts'

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
  order by max(c.last_activity_at) desc, p.name, p.num
`

/** The roots of all listed projects, the last active first. */
export const listProjectRoots = (db: Mirror): ProjectRoot[] => prepared<ProjectRoot>(db, ROOTS).all()

const PLACES = `
  select p.uri, p.id, p.name, p.path, p.belongs_how as how, iif(o.num is null, null, json_object(
    'id', o.id, 'name', o.name, 'path', o.path
  )) as owner
  from projects p left join projects o on o.num = p.belongs_to
  where iif(@nums is null, p.belongs_how = 'merged', p.num in (select value from json_each(@nums)))
  order by p.path
`

type Place = Pick<ProjectRoot, 'name' | 'path'> & { readonly id: ProjectId }

/** A project, and the one to which it belongs: its repository, another spelling of it, or one into which it was merged. */
export interface OwnedProject extends Place {
  readonly uri: string
  readonly how: 'named' | 'found' | 'spelt' | 'merged' | null
  readonly owner: Place | null
}

/** The projects with these numbers; null: all that were merged into others. */
export const listOwned = (db: Mirror, nums: readonly number[] | null): OwnedProject[] =>
  prepared<Omit<OwnedProject, 'owner'> & { readonly owner: string | null }>(db, PLACES)
    .all({ nums: nums === null ? null : JSON.stringify(nums) })
    .map((row) => ({ ...row, owner: JSON.parse(row.owner ?? 'null') as OwnedProject['owner'] }))
