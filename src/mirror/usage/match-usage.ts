import { isChosenModel, modelFamily } from '../../text/tokens/model-name.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { sortKeyFloor } from '../write/messages.ts'

const named = (pick: 'min' | 'max'): string => `(
  select ${pick}(n.model) from messages n indexed by token_counts where n.chat = c.num and n.is_orphan = 0
)`

/**
 * SQL expression over a chat `c`: the model of its messages, if they all name the same one. The model that is selected in
 * the chat is not used: it applies to the next message, not to former ones.
 */
export const ONLY_MODEL = `iif(${named('min')} = ${named('max')}, ${named('min')}, null)`

/** `several-users`: a chat matches, but rows of several users match chats, and it is unknown who uses this machine. */
export type NoMatch = 'no-answer-near' | 'other-model' | 'several-chats' | 'several-users'

/** An answer is written during its request or soon after. Requests of two chats are rarely this close. */
const NEAR_MS = 5 * 60_000
/** If very many messages have the same time, their keys can lie behind that time. */
const KEY_SLACK = 64 * 1024 * 1024

interface MatchOutcome {
  readonly num: number
  /** Null if the chat was found. */
  readonly reason: NoMatch | null
}

interface Unmatched {
  readonly num: number
  readonly at: number
  readonly model: string | null
  readonly user: string | null
}

/** An answer with a time of its own. */
interface Answer {
  readonly chat: number
  readonly model: string | null
}

const LIST_UNMATCHED = `select num, at, model, user from usage_events where chat is null order by at`
const ANSWERS_NEAR = `
select distinct m.chat, coalesce(m.model, ${ONLY_MODEL}) as model
from messages m join chats c on c.num = m.chat
where m.key >= ? and m.key < ? and m.created_at between ? and ? and m.role = 'assistant' and m.is_orphan = 0
  and m.created_at_source in ('message', 'header', 'timing') and c.is_draft = 0 and c.machine is null
`
const MATCHED_USERS = `select distinct user from usage_events where chat is not null and user is not null`
const FORGET = `update usage_events set chat = null where chat is not null and user is not null`
const SAVE = `update usage_events set chat = ? where num = ?`

/**
 * Looks for the chat of every event that has none. A chat matches if it has an answer within five minutes of the event
 * whose model can be the event's, and if it is the only such chat. Chats of other machines may be another person's. The chats of this machine belong to one person, but a team's file also
 * has rows of others who worked at the same time. So of rows that name a user, only those of one user are matched.
 */
export function matchUsage(db: Mirror): MatchOutcome[] {
  const owners = matchedUsers(db)
  const events = prepared<Unmatched>(db, LIST_UNMATCHED)
    .all()
    .map((event) => ({ ...event, found: findChat(db, event) }))
  const fitting = events.flatMap(({ user, found }) => (user === null || typeof found === 'string' ? [] : [user]))
  const [owner, ...others] = owners.length === 1 ? owners : new Set(fitting)
  const matchedUser = others.length === 0 ? owner : undefined
  return events.map(({ num, user, found }) => {
    if (typeof found === 'string') return { num, reason: found }
    if (user !== null && user !== matchedUser) return { num, reason: 'several-users' }
    prepared(db, SAVE).run(found, num)
    return { num, reason: null }
  })
}

/**
 * The users whose rows have chats. An earlier version matched rows of several users. It is unknown which matches were
 * right, so they are all removed.
 */
function matchedUsers(db: Mirror): readonly string[] {
  const users = prepared<{ readonly user: string }>(db, MATCHED_USERS)
    .all()
    .map(({ user }) => user)
  if (users.length < 2) return users
  prepared(db, FORGET).run()
  return []
}

function findChat(db: Mirror, { at, model }: Pick<Unmatched, 'at' | 'model'>): number | NoMatch {
  const [fromMs, toMs] = [at - NEAR_MS, at + NEAR_MS]
  const keys = [BigInt(sortKeyFloor(fromMs)), BigInt(sortKeyFloor(toMs + 1) + KEY_SLACK)]
  const near = prepared<Answer>(db, ANSWERS_NEAR).all(...keys, fromMs, toMs)
  if (near.length === 0) return 'no-answer-near'
  const chats = new Set(near.filter((answer) => mayBeOne(answer.model, model)).map(({ chat }) => chat))
  const [first, ...others] = chats
  if (first === undefined) return 'other-model'
  return others.length === 0 ? first : 'several-chats'
}

/** An unknown model fits every other one. If Cursor chose the model, both sides must say so. */
function mayBeOne(answer: string | null, event: string | null): boolean {
  if (answer === null || event === null) return true
  if (isChosenModel(answer) || isChosenModel(event)) return isChosenModel(answer) && isChosenModel(event)
  return modelFamily(answer) === modelFamily(event)
}
