import type { ChatId } from '../../model/ids.ts'
import { childrenOf, type Batch, type Root } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { nextRevision, touchChat } from '../write/revision.ts'
import { projectIdOf } from './match-project.ts'

const FIND_PROJECT = `select num from projects where uri = ?`
const ADD_PROJECT = `
insert into projects (id, uri, path, name, remote_kind, remote_host) values (?, ?, ?, ?, ?, ?) returning num
`

/** The project of this root; created if it does not exist. Its id is a hash of the normalised root URI. */
function projectNum(db: Mirror, root: Root): number {
  const found = prepared<{ num: number }>(db, FIND_PROJECT).get(root.uri)
  if (found !== undefined) return found.num
  const id = projectIdOf(root.uri)
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
on conflict (chat_id, method, project) do update set rank = excluded.rank, noted_at = excluded.noted_at
where excluded.rank < rank
`

const DROP_FORMER = `delete from evidence where chat_id = ? and method = ? and project <> ?`

/** Saves evidence, and moves the chats that belong to another project because of it. @returns the chats that moved */
export function writeEvidence(db: Mirror, batch: Batch): ChatId[] {
  const affected = new Set<ChatId>()
  for (const { chatId, method, rank, root, isOnly, notedAtMs = batch.nowMs } of batch.evidence) {
    const project = projectNum(db, root)
    const dropped = isOnly ? prepared(db, DROP_FORMER).run(chatId, method, project).changes : 0
    const added = prepared(db, ADD_EVIDENCE).run(chatId, method, project, rank, notedAtMs).changes
    if (added > 0) affected.add(chatId)
    if (added + dropped > 0) touchChat(db, chatId)
  }
  for (const chat of batch.chats) {
    affected.add(chat.id)
    for (const childId of childrenOf(chat)) affected.add(childId)
  }
  for (const head of batch.heads) affected.add(head.chatId)
  return placeChats(db, [...affected])
}

/**
 * Assigns chats to projects. When a chat moves, its subagents are assigned again, even if they were already. So the
 * result does not depend on the order of the chats. @returns the chats that moved
 */
export function placeChats(db: Mirror, chatIds: readonly ChatId[]): ChatId[] {
  const moved = new Set<ChatId>()
  const waiting = [...chatIds]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (!placeChat(db, id)) continue
    moved.add(id)
    waiting.push(...listChildren(db, id))
  }
  return [...moved]
}

const LIST_CHILDREN = `
select id from chats where parent_chat_id = ? union select child_id from chat_links where parent_id = ?
`
export const listChildren = (db: Mirror, id: ChatId): ChatId[] =>
  prepared<{ id: ChatId }>(db, LIST_CHILDREN)
    .all(id, id)
    .map((row) => row.id)

/** The parent's project beats own evidence of this rank or a higher number. */
export const PARENT_RANK = 75

/** The rank of the evidence that a transcript's folder gives. */
export const TRANSCRIPT_RANK = 60

/** The lowest rank decides; then the newest evidence, because a chat can move to another project; then the root's URI. */
const BEST_EVIDENCE = `
select project, method from evidence where chat_id = ? and rank >= ? and rank < ?
order by rank, noted_at desc, (select uri from projects where num = project) desc limit 1
`
/** Of several parents, the one that the chat itself names; then by id. Numbers only tell which one was written first. */
const PARENT_PROJECT = `
select parents.project, 'parent' as method from chats parents
where parents.project is not null and parents.id <> @id and parents.id in (
  select parent_chat_id from chats where id = @id union select parent_id from chat_links where child_id = @id
)
order by parents.id is not (select parent_chat_id from chats where id = @id), parents.id limit 1
`

interface Place {
  readonly project: number
  readonly method: string
}

function placeChat(db: Mirror, chatId: ChatId): boolean {
  const best =
    prepared<Place>(db, BEST_EVIDENCE).get(chatId, 0, PARENT_RANK) ??
    prepared<Place>(db, PARENT_PROJECT).get({ id: chatId }) ??
    prepared<Place>(db, BEST_EVIDENCE).get(chatId, PARENT_RANK, Number.MAX_SAFE_INTEGER)
  return best !== undefined && moveChat(db, chatId, best.project, best.method)
}

const MOVE_CHAT = `
update chats set project = ?, project_source = ?, revision = ?
where id = ? and (project is not ? or project_source is not ?)
`

/** @returns whether the chat's project or its method changed */
export const moveChat = (db: Mirror, chatId: ChatId, project: number, method: string): boolean =>
  prepared(db, MOVE_CHAT).run(project, method, nextRevision(db), chatId, project, method).changes > 0
