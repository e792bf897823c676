import { asChatId, asMessageId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { targetName } from './begin-purge.ts'
import { addTombstones, Tombstones } from './tombstones.ts'

/** What this machine purged, as the hub remembers it. */
export interface KnownPurge {
  readonly chat: string
  /** Null: the whole chat. */
  readonly message: string | null
}

const ADD_PURGE = `insert into purges (begun_at) values (?)`
const ADD_TARGET = `insert into purge_targets (kind, name) values (?, ?) on conflict do nothing`
const FIND_CHAT = `select num from chats where id = ? and machine is null`
const FIND_MESSAGE = `select 1 from messages where chat = ? and id = ? limit 1`

/**
 * Purges again what this machine purged before: an older state of the mirror may have been put back. Notes it only;
 * `endRemoval` removes it.
 * @returns whether the mirror contains any of it
 */
export function purgeAgain(db: Mirror, known: readonly KnownPurge[], nowMs: number): boolean {
  const tombstones = new Tombstones(db)
  const news = known.filter(({ chat, message }) =>
    message === null
      ? !tombstones.hasChat(asChatId(chat))
      : !tombstones.hasMessage(asChatId(chat), asMessageId(message)),
  )
  if (news.length === 0) return false
  return db.transaction(() => {
    let isHeld = false
    for (const { chat, message } of news) {
      const chatId = asChatId(chat)
      if (message === null) addTombstones(db, { chats: [chatId] })
      else addTombstones(db, { messages: [{ chatId, id: asMessageId(message) }] })
      const num = prepared<number>(db, FIND_CHAT).pluck().get(chat)
      if (num === undefined || (message !== null && prepared(db, FIND_MESSAGE).get(num, message) === undefined))
        continue
      if (message === null) prepared(db, ADD_TARGET).run('chat', chat)
      else prepared(db, ADD_TARGET).run('message', targetName(num, message))
      isHeld = true
    }
    if (isHeld) prepared(db, ADD_PURGE).run(nowMs)
    return isHeld
  })()
}
