import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import type { ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import { createMatcher } from '../../text/passages/matcher.ts'
import type { FoundInChat } from '../answers/search.ts'
import type { Clock } from '../periods.ts'
import { makeHits } from './page.ts'
import { parseQuery } from './parse.ts'
import { planQuery } from './plan.ts'
import { chatsOfMessages, keysOf } from './statement.ts'
import { findTitles } from './titles.ts'

export interface FindRequest {
  readonly chatId: ChatId
  /** A query in the search language. An empty one finds nothing. */
  readonly q: string
  readonly clock: Clock
  readonly limit: number
  readonly offset: number
}

// As a chat lists its messages: orphans last.
const IN_ORDER = `
  select m.key from json_each(?) k cross join messages m on m.key = k.value order by m.position is null, m.position, m.key
`

/** Every message of one chat that a query finds, in the order of the chat, as JSON. The count is exact. */
export function findInChat(db: Mirror, { chatId, q, clock, limit, offset }: FindRequest): string {
  return db.transaction(() => {
    const waiting = countWaiting(db)
    const { tree, warnings } = parseQuery(q)
    const plan = tree && planQuery(db, [{ kind: 'field', name: 'chat', values: [chatId] }, tree], clock)
    const found = plan === null ? [] : keysOf(db, plan.messages, -1)
    const keys = prepared<number>(db, IN_ORDER, 'values').all(JSON.stringify(found))
    const page = keys.slice(offset, offset + limit).map((key) => ({ key, score: 0 }))
    const answer: FoundInChat = {
      items: [...makeHits(db, page, createMatcher(plan?.phrases ?? []), {})],
      total: keys.length,
      totalIsExact: waiting === 0,
      warnings: [...warnings, ...(plan?.warnings ?? [])],
      limit,
      offset,
    }
    return JSON.stringify(answer)
  })()
}

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
