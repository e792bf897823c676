import { addTitleTerms } from '../write/chats/chat-columns.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { nextRevision } from '../write/revision.ts'
import type { FactTexts } from './find-facts.ts'
import { homeOf } from './removed-texts.ts'
import type { PurgeScope } from './scope.ts'
import { addTombstones } from './tombstones.ts'

const SCRUB_NAME = `update heads set name = null where chat_id = ? and name = ?`
const SCRUB_BRANCH = `update heads set branch = null where chat_id = ? and branch = ?`
const DROP_PATH = `delete from chat_paths where chat_id = ? and uri = ?`
const READ_CHAT = `select num, title, summary, todos from chats where id = ?`
const SAVE_CHAT = `update chats set summary = ?, todos = ?, revision = ? where num = ?`
const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TARGET = `insert into purge_targets (kind, name) values ('facts', ?) on conflict do nothing`

interface ChatTexts {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

/**
 * Takes texts out of what is said of chats, and has it stay so. What follows from it, a title, is made anew by
 * `removeTargets`.
 */
export function scrubFacts(db: Mirror, facts: FactTexts, scope: PurgeScope): void {
  for (const [id, texts] of facts) {
    const removed = [...texts].map(([text, isWords]) => ({ text, chatId: homeOf(id, isWords, scope) }))
    addTombstones(db, { chats: [], messages: [], texts: removed, until: null, sparesUntimed: false })
    for (const text of texts.keys()) {
      for (const sql of [SCRUB_NAME, SCRUB_BRANCH, DROP_PATH]) prepared(db, sql).run(id, text)
    }
    prepared(db, ADD_TARGET).run(id)
    const chat = prepared<ChatTexts>(db, READ_CHAT).get(id)
    if (chat !== undefined) scrubChat(db, chat, texts)
  }
}

function scrubChat(db: Mirror, chat: ChatTexts, texts: ReadonlyMap<string, boolean>): void {
  const summary = chat.summary !== null && texts.has(chat.summary) ? null : chat.summary
  const todos = scrubTodos(chat.todos, texts)
  if (summary === chat.summary && todos === chat.todos) return
  prepared(db, SAVE_CHAT).run(summary, todos, nextRevision(db), chat.num)
  prepared(db, DROP_TITLE).run(BigInt(chat.num))
  addTitleTerms(db, chat.num, { title: chat.title, summary, todos })
}

function scrubTodos(todos: string | null, texts: ReadonlyMap<string, boolean>): string | null {
  if (todos === null) return null
  const all = JSON.parse(todos) as readonly { readonly content: string }[]
  const left = all.filter(({ content }) => !texts.has(content))
  return left.length === 0 ? null : JSON.stringify(left)
}
