import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { markTerm } from '../../../text/terms/marks.ts'
import { expressionOf } from '../plan/condition.ts'

export interface Named {
  readonly id: string
  readonly name: string
}

const PROJECTS = `select id, name from projects order by num desc`
const TOOLS = `select name as id, name from names where kind = 'tool' order by name`

/** All of them: a person has some hundreds at most. */
export const listProjectNames = (db: Mirror): readonly Named[] => prepared<Named>(db, PROJECTS).all()
export const listToolNames = (db: Mirror): readonly Named[] => prepared<Named>(db, TOOLS).all()

const CALLS_TOOL = `select 1 from message_terms where message_terms match @match limit 1`

/** A name stays in the list when its last message is gone. */
export function isToolCalled(db: Mirror, name: string): boolean {
  const mark = { terms: [markTerm(`tool:${name}`)], isPrefix: false }
  const match = expressionOf({ kind: 'phrases', phrases: [mark], columns: null, isWord: false })
  return prepared(db, CALLS_TOOL).get({ match: `{marks} : (${match})` }) !== undefined
}
