import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { holdsAny } from './scope.ts'

/** Of what lists and chats' own rows say, what holds a text; by chat. */
export type FactTexts = ReadonlyMap<ChatId, ReadonlySet<string>>

const LIST_TEXTS = `
select chat_id as id, name as text from heads where name is not null
union all select chat_id, branch from heads where branch is not null
union all select chat_id, uri from chat_paths
union all select id, summary from chats where summary is not null
union all select chats.id, todo.value ->> 'content' from chats, json_each(chats.todos) todo where todos is not null
`

/** @param isScoped tells which chats are looked at */
export function findFacts(db: Mirror, needles: readonly string[], isScoped: (id: ChatId) => boolean): FactTexts {
  const found = new Map<ChatId, Set<string>>()
  for (const { id, text } of prepared<{ id: ChatId; text: string | null }>(db, LIST_TEXTS).iterate()) {
    if (text === null || !holdsAny(text, needles) || !isScoped(id)) continue
    const texts = found.get(id) ?? new Set()
    texts.add(text)
    found.set(id, texts)
  }
  return found
}
