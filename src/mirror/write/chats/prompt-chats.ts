import type { ChatId } from '../../../model/ids.ts'
import type { ChatWrite } from '../batch.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { HUB } from '../../sources/source-ranks.ts'

/**
 * The format of a chat whose prompts alone are left. A prompt counts only if no other chat of this machine
 * contains it.
 */
export const PROMPTS = 'prompts'

const IS_HELD_ELSEWHERE = `
select 1 from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format <> '${PROMPTS}'
  and messages.source not in (select num from sources where kind = '${HUB}') limit 1
`

/** Whether a complete chat of this machine contains a prompt with these words. */
export const isPromptHeld = (db: Mirror, userText: number | null): boolean =>
  userText !== null && prepared(db, IS_HELD_ELSEWHERE).get(userText) !== undefined

const HAS_PROMPTS = `select 1 from chats where format = '${PROMPTS}' limit 1`
const LIST_REPEATING = `
select distinct chats.id, chats.source from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format = '${PROMPTS}'
`

/** Collects, while a batch is written, the chats of prompts whose texts the changed messages contain. */
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

  /** Empty writes that make these chats be placed again, each with its source. */
  get writes(): { readonly source: number; readonly write: ChatWrite }[] {
    return [...this.#chats].map(([id, source]) => ({
      source,
      write: { id, ownRow: { kind: 'unread' }, messages: [], vanished: [] },
    }))
  }
}
