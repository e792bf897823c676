import type { Mirror } from '../../../mirror/open.ts'

export interface ChatTitle {
  readonly num: number
  readonly title: string
  readonly revision: number
}

const CHAT_TITLES = `
  select num, title, revision
  from chats
  where revision > ?
  order by revision
`

/** Titles of the chats written after this revision, oldest write first. 0 gives them all. */
export function listChatTitles(db: Mirror, afterRevision: number): ChatTitle[] {
  return db.prepare<[number], ChatTitle>(CHAT_TITLES).all(afterRevision)
}
