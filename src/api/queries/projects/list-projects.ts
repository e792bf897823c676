import type { Project } from '../../../model/project.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { Page, PageRequest } from '../page.ts'
import { readProjects } from './project-rows.ts'
import { inSnapshot } from '../snapshot.ts'

/** A project whose last chat went elsewhere and which no workspace names is a leftover, and not listed. */
const COUNT_PROJECTS = `
  select count(*)
  from projects p
  where exists (select 1 from chats c where c.project = p.num)
    or exists (select 1 from workspaces w where w.project = p.num)
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

/** How many projects a list without end would have. */
export function countProjects(db: Mirror): number {
  return db.prepare<[], number>(COUNT_PROJECTS).pluck().get() ?? 0
}
