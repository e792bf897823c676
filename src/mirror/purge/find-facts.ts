import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { holdsAny } from './scope.ts'

/** Of what lists and chats' own rows say, what holds a text, by chat; and whether it is words, or names a file. */
export type FactTexts = ReadonlyMap<ChatId, ReadonlyMap<string, boolean>>

const LIST_TEXTS = `
select chat_id as id, name as text, 1 as isWords from heads where name is not null
union all select chat_id, branch, 1 from heads where branch is not null
union all select chat_id, uri, 0 from chat_paths
union all select id, summary, 1 from chats where summary is not null
union all select chats.id, todo.value ->> 'content', 1 from chats, json_each(chats.todos) todo where todos is not null
`

interface FactRow {
  readonly id: ChatId
  readonly text: string | null
  readonly isWords: number
}

/** @param isScoped tells which chats are looked at */
export function findFacts(db: Mirror, needles: readonly string[], isScoped: (id: ChatId) => boolean): FactTexts {
  const found = new Map<ChatId, Map<string, boolean>>()
  for (const { id, text, isWords } of prepared<FactRow>(db, LIST_TEXTS).iterate()) {
    if (text === null || !holdsAny(text, needles) || !isScoped(id)) continue
    const texts = found.get(id) ?? new Map<string, boolean>()
    texts.set(text, isWords === 1)
    found.set(id, texts)
  }
  return found
}
