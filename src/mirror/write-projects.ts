import { createHash } from 'node:crypto'
import type { ChatId } from '../model/ids.ts'
import type { Batch, Root } from './batch.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { nextRevision } from './revision.ts'

const FIND_PROJECT = `select num from projects where uri = ?`
const ADD_PROJECT = `
insert into projects (id, uri, path, name, remote_kind, remote_host) values (?, ?, ?, ?, ?, ?) returning num
`

/** The project of this root, made where there is none yet. Its id is a hash of the normalised root URI. */
function projectNum(db: Mirror, root: Root): number {
  const found = prepared<{ num: number }>(db, FIND_PROJECT).get(root.uri)
  if (found !== undefined) return found.num
  const id = createHash('sha256').update(root.uri).digest('hex').slice(0, 16)
  const { uri, path, name, remote } = root
  const added = prepared<{ num: number }>(db, ADD_PROJECT).get(id, uri, path, name, remote?.kind, remote?.host)
  if (added === undefined) throw new Error('an insert returned no row')
  return added.num
}

const UPSERT_WORKSPACE = `
insert into workspaces (source, id, uri, project) values (?, ?, ?, ?)
on conflict (source, id) do update set uri = excluded.uri, project = excluded.project
where uri <> excluded.uri
`

export function writeWorkspaces(db: Mirror, batch: Batch): void {
  for (const workspace of batch.workspaces) {
    const project = projectNum(db, workspace.root)
    prepared(db, UPSERT_WORKSPACE).run(batch.source, workspace.id, workspace.root.uri, project)
  }
}

const ADD_EVIDENCE = `
insert into evidence (chat_id, method, project, rank, noted_at) values (?, ?, ?, ?, ?)
on conflict (chat_id, method, project) do nothing
`

const DROP_FORMER = `delete from evidence where chat_id = ? and method = ? and project <> ?`

/** Notes evidence and moves the chats that it places elsewhere. @returns the chats that moved */
export function writeEvidence(db: Mirror, batch: Batch): ChatId[] {
  const concerned = new Set<ChatId>()
  for (const { chatId, method, rank, root, isOnly } of batch.evidence) {
    const project = projectNum(db, root)
    if (isOnly) prepared(db, DROP_FORMER).run(chatId, method, project)
    if (prepared(db, ADD_EVIDENCE).run(chatId, method, project, rank, batch.nowMs).changes > 0) concerned.add(chatId)
  }
  for (const chat of batch.chats) concerned.add(chat.id)
  return [...concerned].filter((chatId) => placeChat(db, chatId))
}

/** The least rank decides; among equals the newest evidence, for a chat can move on. */
const BEST_EVIDENCE = `
select project, method from evidence where chat_id = ? order by rank, noted_at desc, project desc limit 1
`
const MOVE_CHAT = `
update chats set project = ?, project_source = ?, revision = ?
where id = ? and (project is not ? or project_source is not ?)
`

function placeChat(db: Mirror, chatId: ChatId): boolean {
  const best = prepared<{ project: number; method: string }>(db, BEST_EVIDENCE).get(chatId)
  if (best === undefined) return false
  const { project, method } = best
  return prepared(db, MOVE_CHAT).run(project, method, nextRevision(db), chatId, project, method).changes > 0
}
