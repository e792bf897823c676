import type { MessageId } from '../model/ids.ts'
import { findHeldMessage } from './held-messages.ts'
import type { HeldMessage, NextMessage } from './message-columns.ts'
import type { Mirror } from './open.ts'
import type { Place, ThreadWrite } from './place-thread.ts'
import { prepared } from './prepared.ts'
import { takeIn } from './take-in.ts'

/** What can move, or be moved, when another message is written: not what stands in a thread that is all of one source. */
const IS_LOOSE = `
select 1 from messages
where chat = ? and (source <> ? or is_live = 0 or is_embedded = 1 or is_orphan <> 0 or is_shadowed <> 0)
limit 1
`

/**
 * Messages that were read again and keep their places, as they will stand. While an agent answers, Cursor writes its
 * last message anew many times a second, and to place all of a chat of 10,000 takes ten times as long.
 * @returns null where any message of the chat may move
 */
export function rewriteInPlace(db: Mirror, thread: ThreadWrite): (readonly [NextMessage, Place])[] | null {
  const { chatNum, source, write } = thread
  if (thread.isNew || !thread.isOrderKnown || thread.isPrompts) return null
  if (write.messages.length === 0 || write.vanished.length > 0) return null
  const held = new Map<MessageId, HeldMessage>()
  for (const { id } of write.messages) {
    const message = findHeldMessage(db, chatNum, id, source)
    if (message === null) return null
    held.set(id, message)
  }
  if (prepared(db, IS_LOOSE).get(chatNum, source) !== undefined) return null
  if (!write.messages.every((message) => isPlacedAlike(held.get(message.id), message))) return null
  const next = new Map(
    write.messages.map((message) => [message.id, takeIn(db, thread, held.get(message.id) ?? null, message)]),
  )
  return [...next.values()].map((message) => [message, message.columns])
}

type Written = ThreadWrite['write']['messages'][number]

/** Whether all that decides of a message's place and time is as it was. */
function isPlacedAlike(held: HeldMessage | undefined, message: Written): boolean {
  return (
    held !== undefined &&
    held.sent_at === message.sentAtMs &&
    held.started_at === message.startedAtMs &&
    held.timing_at === message.timingAtMs &&
    held.role === message.role &&
    held.alias === message.alias &&
    !message.isEmbedded &&
    !message.remembered
  )
}
