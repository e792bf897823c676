import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { Clock } from '../periods.ts'
import { parseQuery } from './parse.ts'
import { planQuery } from './plan.ts'
import { chatsOfMessages, keysOf } from './statement.ts'
import { findTitles } from './titles.ts'

/**
 * The numbers of all chats with a matching message or title. There is no time limit.
 * @throws UserError `bad-scope` if the search is empty: an archive of nothing would still count as verified
 */
export function chatsOfScope(db: Mirror, scope: string, clock: Clock): readonly number[] {
  const { tree } = parseQuery(scope)
  if (tree === null) throw new UserError('bad-scope', 'The scope of the archive is empty.', 'Use null for everything.')
  return db.transaction(() => {
    const plan = planQuery(db, [tree], clock)
    // A search looks at a limited number of titles. An archive needs all of them, or chats would be lost one day.
    const titled = findTitles(db, plan.titles, -1).map(({ num }) => num)
    return [...new Set([...titled, ...chatsOfMessages(db, keysOf(db, plan.messages, -1))])]
  })()
}
