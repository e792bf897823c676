import { isChosenModel, modelFamily } from '../text/model-name.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { sortKeyFloor } from './sort-key.ts'

export type NoMatch = 'no-answer-near' | 'other-model' | 'several-chats'

/** An answer is written while its request runs, or soon after; two requests of two chats are seldom so close. */
const NEAR_MS = 5 * 60_000
/** A key may stand later than its time where very many messages share a moment. */
const KEY_SLACK = 64 * 1024 * 1024

export interface MatchOutcome {
  readonly num: number
  /** Null: its chat was found. */
  readonly reason: NoMatch | null
}

interface Unmatched {
  readonly num: number
  readonly at: number
  readonly model: string | null
}

/** An answer whose time is its own. */
interface Answer {
  readonly chat: number
  readonly model: string | null
}

const LIST_UNMATCHED = `select num, at, model from usage_events where chat is null order by at`
const ANSWERS_NEAR = `
select distinct m.chat, coalesce(m.model, case when json_array_length(c.models) = 1 then c.models ->> 0 end) as model
from messages m join chats c on c.num = m.chat
where m.key >= ? and m.key < ? and m.created_at between ? and ? and m.role = 'assistant' and m.is_orphan = 0
  and m.created_at_source in ('message', 'header', 'timing')
`
const SAVE = `update usage_events set chat = ? where num = ?`

/**
 * Looks for the chat of every event that has none: one in which, within five minutes before or after, an answer was
 * written whose model may be the event's, if there is exactly one such chat.
 */
export function matchUsage(db: Mirror): MatchOutcome[] {
  return prepared<Unmatched>(db, LIST_UNMATCHED)
    .all()
    .map((event) => {
      const found = findChat(db, event)
      if (typeof found === 'string') return { num: event.num, reason: found }
      prepared(db, SAVE).run(found, event.num)
      return { num: event.num, reason: null }
    })
}

function findChat(db: Mirror, { at, model }: Unmatched): number | NoMatch {
  const [fromMs, toMs] = [at - NEAR_MS, at + NEAR_MS]
  const keys = [BigInt(sortKeyFloor(fromMs)), BigInt(sortKeyFloor(toMs + 1) + KEY_SLACK)]
  const near = prepared<Answer>(db, ANSWERS_NEAR).all(...keys, fromMs, toMs)
  if (near.length === 0) return 'no-answer-near'
  const chats = new Set(near.filter((answer) => mayBeOne(answer.model, model)).map(({ chat }) => chat))
  const [first, ...others] = chats
  if (first === undefined) return 'other-model'
  return others.length === 0 ? first : 'several-chats'
}

/** A model that is not told contradicts none; one that was chosen for the user is told as such on both sides. */
function mayBeOne(answer: string | null, event: string | null): boolean {
  if (answer === null || event === null) return true
  if (isChosenModel(answer) || isChosenModel(event)) return isChosenModel(answer) && isChosenModel(event)
  return modelFamily(answer) === modelFamily(event)
}
