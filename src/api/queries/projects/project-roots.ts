import { asProjectId } from '../../../model/ids.ts'
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
  select p.num, p.id, p.name, p.path, p.uri, p.remote_kind as remoteKind, p.remote_host as remoteHost
  from projects p
  left join chats c on c.project = p.num
  group by p.num
  having count(c.num) > 0 or exists (select 1 from workspaces w where w.project = p.num)
  order by max(c.last_activity_at) desc, p.name, p.num
`

interface RootRow {
  readonly num: number
  readonly id: string
  readonly name: string
  readonly path: string
  readonly uri: string
  readonly remoteKind: string | null
  readonly remoteHost: string | null
}

/** The roots of all listed projects, the last active first. */
export function listProjectRoots(db: Mirror): ProjectRoot[] {
  const rows = db.prepare<[], RootRow>(ROOTS).all()
  return rows.map(({ num, id, name, path, uri, remoteKind, remoteHost }) => ({
    num,
    project: { id: asProjectId(id), name },
    path,
    uri,
    remote: remoteKind === null ? null : { kind: remoteKind, host: remoteHost },
  }))
}
