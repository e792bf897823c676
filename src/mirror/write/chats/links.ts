import type { ChatId } from '../../../model/ids.ts'
import type { ChatWrite } from '../batch.ts'
import { tellsFacts } from '../batch.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { nextRevision } from '../revision.ts'

const ADD_LINK = `insert into chat_links (parent_id, child_id) values (?, ?) on conflict do nothing`
const MARK_SUBAGENT = `update chats set is_subagent = 1, revision = ? where id = ? and is_subagent = 0`

/** The chats that a chat began: those that its own row lists, and those that calls in its messages name. */
export function childrenOf({ id, ownRow, messages }: ChatWrite): ReadonlySet<ChatId> {
  const children = new Set(tellsFacts(ownRow) ? ownRow.facts.childChatIds : [])
  for (const message of messages) for (const childId of message.childChatIds) children.add(childId)
  // Nothing is its own subagent: it would stand in no list.
  children.delete(id)
  return children
}

/** @returns whether a child was told that was not known as one */
export function writeLinks(db: Mirror, write: ChatWrite): boolean {
  let isNew = false
  for (const childId of childrenOf(write)) {
    if (prepared(db, ADD_LINK).run(write.id, childId).changes > 0) isNew = true
    prepared(db, MARK_SUBAGENT).run(nextRevision(db), childId)
  }
  return isNew
}
