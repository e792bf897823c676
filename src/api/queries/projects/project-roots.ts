import type { Mirror } from '../../../mirror/open.ts'
import type { ProjectRef } from '../../http/schemas/projects.ts'

/** The location of a project's files. */
export interface ProjectRoot {
  readonly num: number
  readonly project: ProjectRef
  /** The folder, or the workspace file of several folders. */
  readonly path: string
  readonly uri: string
  readonly remote: { readonly kind: string; readonly host: string | null } | null
}

const ROOTS = `
  select p.num, json_object('id', p.id, 'name', p.name) as project, p.path, p.uri,
    iif(p.remote_kind is null, null, json_object('kind', p.remote_kind, 'host', p.remote_host)) as remote
  from projects p
  left join chats c on c.project = p.num
  group by p.num
  having count(c.num) > 0 or exists (select 1 from workspaces w where w.project = p.num)
  order by max(c.last_activity_at) desc, p.name, p.num
`

type RootRow = Omit<ProjectRoot, 'project' | 'remote'> & { readonly project: string; readonly remote: string | null }

/** The roots of all listed projects, the last active first. */
export const listProjectRoots = (db: Mirror): ProjectRoot[] =>
  db
    .prepare<[], RootRow>(ROOTS)
    .all()
    .map(({ project, remote, ...root }) => ({
      ...root,
      project: JSON.parse(project) as ProjectRoot['project'],
      remote: JSON.parse(remote ?? 'null') as ProjectRoot['remote'],
    }))
