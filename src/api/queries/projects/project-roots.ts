import type { Mirror } from '../../../mirror/open.ts'
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
