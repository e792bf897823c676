import type { ProjectId } from '../../../model/ids.ts'
import type { Project } from '../../../model/project.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { readProjects } from './project-rows.ts'

/** One project; null where none has this id. */
export function getProject(db: Mirror, id: ProjectId): Project | null {
  return readProjects(db, { id, limit: 1, offset: 0 })[0] ?? null
}
