import type { ChatId } from '../../../model/ids.ts'
import type { ChatWrite } from '../batch.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

/** The format of a chat of which only the prompts are left; they count where no other chat holds their words. */
export const PROMPTS = 'prompts'

const IS_HELD_ELSEWHERE = `
select 1 from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format <> '${PROMPTS}' limit 1
`

/** Whether a chat that is whole holds a prompt of these words. */
export const isPromptHeld = (db: Mirror, userText: number | null): boolean =>
  userText !== null && prepared(db, IS_HELD_ELSEWHERE).get(userText) !== undefined

const HAS_PROMPTS = `select 1 from chats where format = '${PROMPTS}' limit 1`
const LIST_REPEATING = `
select distinct chats.id, chats.source from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format = '${PROMPTS}'
`

/** Gathers, while a batch is written, the chats of prompts that the new messages repeat. */
export class RepeatedPrompts {
  readonly #db: Mirror
  readonly #hasPrompts: boolean
  readonly #chats = new Map<ChatId, number>()

  constructor(db: Mirror) {
    this.#db = db
    this.#hasPrompts = prepared(db, HAS_PROMPTS).get() !== undefined
  }

  note(userText: number | null): void {
    if (!this.#hasPrompts || userText === null) return
    const rows = prepared<{ id: ChatId; source: number }>(this.#db, LIST_REPEATING).all(userText)
    for (const { id, source } of rows) this.#chats.set(id, source)
  }

  /** What has to be looked at again, and the source whose it is. */
  get writes(): { readonly source: number; readonly write: ChatWrite }[] {
    return [...this.#chats].map(([id, source]) => ({
      source,
      write: { id, ownRow: { kind: 'unread' }, messages: [], vanished: [] },
    }))
  }
}
