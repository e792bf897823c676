import { addTitleTerms } from './chat-columns.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

const LIST_CHATS = `select num, title, summary, todos from chats where num not in (select id from chat_terms_docsize)`

interface Titled {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

/** Chats without a full-text row get theirs. @returns how many there were */
export function fillTitles(db: Mirror): number {
  const chats = prepared<Titled>(db, LIST_CHATS).all()
  for (const chat of chats) addTitleTerms(db, chat.num, chat)
  return chats.length
}
