import type { Mirror } from '../../mirror/open.ts'
import { asChatId, asProjectId, type ChatId } from '../../model/ids.ts'
import type { ProjectRef } from '../answers/projects.ts'

const NAMED_PROJECTS = `select num, id, name from projects`

/** All projects, by number. */
export function readNamedProjects(db: Mirror): ReadonlyMap<number, ProjectRef> {
  const rows = db.prepare<[], { num: number; id: string; name: string }>(NAMED_PROJECTS).all()
  return new Map(rows.map(({ num, id, name }) => [num, { id: asProjectId(id), name }]))
}

const NAMED_CHATS = `
  select c.num, c.id, c.title, p.id as projectId, p.name as projectName
  from json_each(?) wanted join chats c on c.num = wanted.value left join projects p on p.num = c.project
`

interface NamedChatRow {
  readonly num: number
  readonly id: string
  readonly title: string
  readonly projectId: string | null
  readonly projectName: string | null
}

export interface NamedChat {
  readonly id: ChatId
  readonly title: string
  readonly project: ProjectRef | null
}

/** Chats by number. */
export function readNamedChats(db: Mirror, nums: readonly number[]): ReadonlyMap<number, NamedChat> {
  const rows = db.prepare<[string], NamedChatRow>(NAMED_CHATS).all(JSON.stringify(nums))
  return new Map(
    rows.map(({ num, id, title, projectId, projectName }) => {
      const project = projectId === null ? null : { id: asProjectId(projectId), name: projectName ?? '' }
      return [num, { id: asChatId(id), title, project }]
    }),
  )
}
