import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { markTerm } from '../../../text/terms/columns.ts'
import { expressionOf, type Match } from '../plan/condition.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

const PROJECTS = `select id, name from projects order by num desc`
const TOOLS = `select name as id, name from names where kind = 'tool' order by name`

/** All names: there are at most a few hundred. */
export const listProjectNames = (db: Mirror): readonly Named[] => prepared<Named>(db, PROJECTS).all()
export const listToolNames = (db: Mirror): readonly Named[] => prepared<Named>(db, TOOLS).all()

const CALLS_TOOL = `select 1 from message_terms where message_terms match @match limit 1`

/** Whether any message calls the tool. A name stays in the list when its last message is gone. */
export function isToolCalled(db: Mirror, name: string): boolean {
  const mark = { terms: [markTerm(`tool:${name}`)], isPrefix: false }
  const match = expressionOf({ kind: 'phrases', phrases: [mark], columns: null, isWord: false })
  return prepared(db, CALLS_TOOL).get({ match: `{marks} : (${match})` }) !== undefined
}

export interface SuggestedChat {
  readonly id: string
  readonly title: string
  readonly lastActivityAtMs: number | null
}

/** How many of the latest chats with such a title are compared. */
const LOOKED_AT = 100

const WITH_TITLE = `
  select c.id, c.title, c.last_activity_at as lastActivityAtMs
  from chat_terms cross join chats c on c.num = chat_terms.rowid
  where chat_terms match @match and exists (select 1 from messages m where m.chat = c.num)
  order by chat_terms.rowid desc
  limit ${LOOKED_AT}
`

/** Chats by title, latest activity first. */
export function findChats(db: Mirror, match: Match): readonly SuggestedChat[] {
  const found = prepared<SuggestedChat>(db, WITH_TITLE).all({ match: `{title} : (${expressionOf(match)})` })
  return found.sort((a, b) => (b.lastActivityAtMs ?? 0) - (a.lastActivityAtMs ?? 0))
}
