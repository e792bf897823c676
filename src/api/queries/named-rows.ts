import type { Mirror } from '../../mirror/open.ts'
import type { ChatId } from '../../model/ids.ts'
import type { ProjectRef } from '../answers/projects.ts'
import { answerRow, PROJECT_REF, type Row } from './answer-row.ts'

const NAMED_PROJECTS = `select num, id, name from projects`

/** All projects, by number. */
export function readNamedProjects(db: Mirror): ReadonlyMap<number, ProjectRef> {
  const rows = db.prepare<[], ProjectRef & { readonly num: number }>(NAMED_PROJECTS).all()
  return new Map(rows.map(({ num, ...named }) => [num, named]))
}

const NAMED_CHATS = `
  select c.num, c.id, c.title, ${PROJECT_REF}
  from json_each(?) wanted join chats c on c.num = wanted.value left join projects p on p.num = c.project
`

export interface NamedChat {
  readonly id: ChatId
  readonly title: string
  readonly project: ProjectRef | null
}

/** Chats by number. */
export function readNamedChats(db: Mirror, nums: readonly number[]): ReadonlyMap<number, NamedChat> {
  const rows = db.prepare<[string], Row & { readonly num: number }>(NAMED_CHATS).all(JSON.stringify(nums))
  return new Map(rows.map(({ num, ...row }) => [num, answerRow<NamedChat>(row, ['project'])]))
}
