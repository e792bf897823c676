import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { findChats, withSubagents, type ScopedChat } from './find-chats.ts'
import { findCopiesOf, findPromptsOf } from './find-copies-of.ts'
import { findFacts, type FactTexts } from './find-facts.ts'
import { isMatching } from './said.ts'
import { needlesOf, type PurgeScope } from './scope.ts'

/** What of a mirror a purge removes. */
export interface PurgeTargets {
  /** Chats that go whole, known to the mirror or not: nothing of them comes in again. */
  readonly chatIds: ReadonlySet<ChatId>
  /** Keys of single messages, by the number of their chat. */
  readonly messages: ReadonlyMap<number, ReadonlySet<number>>
  readonly facts: FactTexts
}

/** Bodies that are looked through between two signs of life. */
const BODIES_MAX = 500

/**
 * Looks for what a scope asks for, a bounded step at a time. Writes nothing.
 * @param goingOn chats in which more was said than is held here: of these single messages go
 */
export function* findTargets(
  db: Mirror,
  scope: PurgeScope,
  goingOn: ReadonlySet<ChatId> = new Set(),
): Generator<void, PurgeTargets> {
  const chats = findChats(db, scope)
  const whole = scope.match === null ? chats.filter(({ id, isEarlier }) => isEarlier && !goingOn.has(id)) : []
  const nums = new Set(whole.map(({ num }) => num))
  const chatIds = new Set([...whole.map(({ id }) => id), ...unknownIds(db, scope)])
  const rest = chats.filter(({ num }) => !nums.has(num))
  const found = yield* findMessages(db, scope, rest)
  const messages = new Map<number, Set<number>>()
  const add = (chat: number, key: number): void => {
    messages.set(chat, (messages.get(chat) ?? new Set()).add(key))
  }
  for (const { chat, key } of found) add(chat, key)
  for (const [chat, going] of messages) for (const key of findCopiesOf(db, chat, going)) going.add(key)
  for (const { chat, key } of findPrompts(db, nums, messages)) add(chat, key)
  return { chatIds, messages, facts: factsOf(db, scope, chats) }
}

/** A chat that is named goes, be it that only a list names it, or that it comes later. */
function unknownIds(db: Mirror, { chatIds, projectUris, beforeMs, match }: PurgeScope): readonly ChatId[] {
  if (chatIds === null || projectUris !== null || beforeMs !== null || match !== null) return []
  return withSubagents(db, chatIds)
}

interface Found {
  readonly chat: number
  readonly key: number
}

const LIST_EARLIER = `select chat, key from messages where created_at < @before and chat = @chat`
const LIST_BODIES = `
select messages.key, chat, created_at as createdAtMs, parts
from messages join bodies on bodies.num = messages.body
where messages.key > ? order by messages.key limit ${BODIES_MAX}
`

function* findMessages(
  db: Mirror,
  { beforeMs, match }: PurgeScope,
  chats: readonly ScopedChat[],
): Generator<void, Found[]> {
  if (match !== null) return yield* findMatching(db, match, beforeMs, new Set(chats.map(({ num }) => num)))
  return beforeMs === null
    ? []
    : chats.flatMap(({ num }) => prepared<Found>(db, LIST_EARLIER).all({ before: beforeMs, chat: num }))
}

function* findMatching(
  db: Mirror,
  match: string,
  beforeMs: number | null,
  chats: ReadonlySet<number>,
): Generator<void, Found[]> {
  const needles = needlesOf(match)
  const found: Found[] = []
  for (let after = -1; ;) {
    const rows = prepared<Found & { createdAtMs: number | null; parts: string }>(db, LIST_BODIES).all(BigInt(after))
    for (const { key, chat, createdAtMs, parts } of rows) {
      const isEarly = beforeMs === null || (createdAtMs !== null && createdAtMs < beforeMs)
      if (isEarly && chats.has(chat) && isMatching(parts, needles)) found.push({ chat, key })
    }
    const last = rows.at(-1)
    if (last === undefined) return found
    after = last.key
    yield
  }
}

const LIST_WORDS = `select user_text as words from messages where chat = ? and user_text is not null`
const WORDS_OF = `select user_text as words from messages where key = ? and user_text is not null`
const CHAT_OF = `select chat, key from messages where key = ?`

function findPrompts(
  db: Mirror,
  whole: ReadonlySet<number>,
  messages: ReadonlyMap<number, ReadonlySet<number>>,
): Found[] {
  const wordsIn = (sql: string, bound: number): number[] =>
    prepared<{ words: number }>(db, sql)
      .all(BigInt(bound))
      .map(({ words }) => words)
  const single = [...messages.values()].flatMap((keys) => [...keys])
  const words = [
    ...[...whole].flatMap((chat) => wordsIn(LIST_WORDS, chat)),
    ...single.flatMap((key) => wordsIn(WORDS_OF, key)),
  ]
  const isGoing = ({ key, chat }: Found): boolean => whole.has(chat) || messages.get(chat)?.has(key) === true
  const keys = findPromptsOf(db, words, isGoing)
  return keys.flatMap((key) => prepared<Found>(db, CHAT_OF).get(BigInt(key)) ?? []).filter((prompt) => !isGoing(prompt))
}

function factsOf(db: Mirror, scope: PurgeScope, chats: readonly ScopedChat[]): FactTexts {
  if (scope.match === null || scope.beforeMs !== null) return new Map()
  const ids = new Set(chats.map(({ id }) => id))
  const isAll = scope.chatIds === null && scope.projectUris === null
  return findFacts(db, needlesOf(scope.match), (id) => isAll || ids.has(id))
}
