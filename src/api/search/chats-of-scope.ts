import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { Clock } from '../periods.ts'
import { createDeadline } from './deadline.ts'
import { chatsByTitle } from './titles/find-titles.ts'
import { parseQuery } from './language/parse.ts'
import { planQuery } from './plan/plan.ts'
import { walkMessages } from './match/walk.ts'

const KEYS_MAX = 10_000
const CHATS_OF_KEYS = `
select distinct m.chat from json_each(?) wanted cross join messages m on m.key = wanted.value
`

/**
 * The numbers of all chats with a matching message or title. There is no time limit.
 * @throws UserError `bad-scope` if the search is empty: an archive of nothing would still count as verified
 */
export function chatsOfScope(db: Mirror, scope: string, clock: Clock): readonly number[] {
  const { tree } = parseQuery(scope)
  if (tree === null) throw new UserError('bad-scope', 'The scope of the archive is empty.', 'Use null for everything.')
  return db.transaction(() => {
    const plan = planQuery(db, [tree], clock)
    const never = createDeadline(undefined)
    // A search looks at a limited number of titles. An archive needs all of them, or chats would be lost one day.
    const nums = new Set(chatsByTitle(db, plan))
    let keys: number[] = []
    const take = (): void => {
      for (const num of db.prepare<[string], number>(CHATS_OF_KEYS).pluck().all(JSON.stringify(keys))) nums.add(num)
      keys = []
    }
    for (const key of walkMessages(db, plan.branches, 'newest', never)) {
      keys.push(key)
      if (keys.length >= KEYS_MAX) take()
    }
    take()
    return [...nums]
  })()
}
