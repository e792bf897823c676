import { createHash } from 'node:crypto'
import type { ChatId } from '../../model/ids.ts'
import { childrenOf, type Batch, type Root } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { nextRevision, touchChat } from '../write/revision.ts'

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
on conflict (chat_id, method, project) do update set rank = excluded.rank, noted_at = excluded.noted_at
where excluded.rank < rank
`

const DROP_FORMER = `delete from evidence where chat_id = ? and method = ? and project <> ?`

/** Notes evidence and moves the chats that it places elsewhere. @returns the chats that moved */
export function writeEvidence(db: Mirror, batch: Batch): ChatId[] {
  const concerned = new Set<ChatId>()
  for (const { chatId, method, rank, root, isOnly, notedAtMs = batch.nowMs } of batch.evidence) {
    const project = projectNum(db, root)
    const dropped = isOnly ? prepared(db, DROP_FORMER).run(chatId, method, project).changes : 0
    const added = prepared(db, ADD_EVIDENCE).run(chatId, method, project, rank, notedAtMs).changes
    if (added > 0) concerned.add(chatId)
    if (added + dropped > 0) touchChat(db, chatId)
  }
  for (const chat of batch.chats) {
    concerned.add(chat.id)
    for (const childId of childrenOf(chat)) concerned.add(childId)
  }
  for (const head of batch.heads) concerned.add(head.chatId)
  return placeChats(db, [...concerned])
}

/**
 * A chat that moved takes its subagents with it, those too that were placed already: where a chat belongs does not
 * depend on which of the two is looked at first. @returns the chats that moved
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

/** Where a parent belongs outranks the weakest evidence of one's own. */
const PARENT_RANK = 75

/** The least rank decides; among equals the newest evidence, for a chat can move on; then the roots themselves. */
const BEST_EVIDENCE = `
select project, method from evidence where chat_id = ? and rank >= ? and rank < ?
order by rank, noted_at desc, (select uri from projects where num = project) desc limit 1
`
/** Of several parents the one that the chat itself names, then by their ids: numbers tell only which was written first. */
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

/** @returns whether it was elsewhere before */
export const moveChat = (db: Mirror, chatId: ChatId, project: number, method: string): boolean =>
  prepared(db, MOVE_CHAT).run(project, method, nextRevision(db), chatId, project, method).changes > 0
