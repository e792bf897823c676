import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { QueryPlan } from './plan.ts'
import type { Scope } from './scope.ts'

const LOOKS_MAX = 8

/**
 * Which of some chats hold a message that matches under the filters. Out of time, a chat that was not looked at
 * counts as one that does.
 */
export function chatsWithMatch(
  db: Mirror,
  plan: QueryPlan,
  scope: Scope,
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  if (plan.match === null) return new Set()
  // A look is short where a chat's messages lie close in time, and as long as the walk where they do not; and a
  // prefix is merged anew by each statement.
  if (plan.hasPrefix || nums.length > LOOKS_MAX) return walkMatches(db, plan.match, scope, nums, deadline)
  const hasMatch = prepareLook(db, plan.match, scope)
  return new Set(nums.filter((num) => deadline.isPassed() || hasMatch(num)))
}

const SELECT_CHATS_OF_MATCHES = `
  select m.chat
  from message_terms cross join messages m on m.key = message_terms.rowid
  where message_terms match @match and message_terms.rowid between @low and @high
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by message_terms.rowid desc
`

function walkMatches(
  db: Mirror,
  match: string,
  scope: Scope,
  nums: readonly number[],
  deadline: Deadline,
): ReadonlySet<number> {
  const unseen = new Set(nums)
  for (const chat of db
    .prepare<[object], number>(SELECT_CHATS_OF_MATCHES)
    .pluck()
    .iterate({ match, ...scope })) {
    unseen.delete(chat)
    if (unseen.size === 0) break
    if (deadline.isPassedAtRow()) return new Set(nums)
  }
  return new Set(nums.filter((num) => !unseen.has(num)))
}

const SELECT_KEY_RANGE = `
  select min(key) as low, max(key) as high from messages where chat = @chat and key between @low and @high
`
const SELECT_MATCH_IN_CHAT = `
  select 1
  from message_terms cross join messages m on m.key = message_terms.rowid
  where message_terms match @match and message_terms.rowid between @low and @high
    and m.chat = @chat
    and (@roles is null or m.role in (select value from json_each(@roles)))
  limit 1
`

/** A chat's messages lie close in time, and so in the full-text index: each look is a short walk. */
function prepareLook(db: Mirror, match: string, scope: Scope): (chat: number) => boolean {
  const selectRange = db.prepare<[object], { low: number | null; high: number | null }>(SELECT_KEY_RANGE)
  const selectMatch = db.prepare<[object]>(SELECT_MATCH_IN_CHAT)
  return (chat) => {
    const range = selectRange.get({ chat, low: scope.low, high: scope.high })
    if (range === undefined || range.low === null || range.high === null) return false
    const bounds = { low: BigInt(range.low), high: BigInt(range.high) }
    return selectMatch.get({ match, chat, roles: scope.roles, ...bounds }) !== undefined
  }
}
