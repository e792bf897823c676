import { countsOf } from '../oracle.ts'
import type { ExpectedChat, ExpectedMessage } from '../oracle.ts'

type Chats = ReadonlyMap<string, ExpectedChat>

/**
 * The required answers after a store lost data: everything that it ever had, with deleted data
 * marked. Lost chats keep their thread; lost messages keep the place where their chat still names them.
 */
export class Memory {
  #seen: Chats = new Map()

  /** @param held the current content of the store */
  look(held: Chats): Chats {
    const merged = new Map<string, ExpectedChat>()
    for (const [id, chat] of held) merged.set(id, mergeChat(chat, this.#seen.get(id)))
    for (const [id, chat] of this.#seen) if (!held.has(id)) merged.set(id, lostChat(chat))
    this.#seen = merged
    return merged
  }
}

function lostChat(chat: ExpectedChat): ExpectedChat {
  return { ...chat, facts: { ...chat.facts, deletedInCursor: true }, messages: chat.messages.map(lost) }
}

function mergeChat(now: ExpectedChat, before: ExpectedChat | undefined): ExpectedChat {
  const held = new Set(now.messages.map((message) => message.id))
  const gone = before?.messages.filter((message) => !held.has(message.id)) ?? []
  const placed = gone.map((message): ExpectedMessage => {
    const position = message.id === null ? null : (now.names.get(message.id) ?? null)
    return { ...lost(message), position, isOrphan: position === null }
  })
  const messages = [...now.messages, ...placed].toSorted(byPlace)
  // The facts of a chat's own row are kept when only the rows of its messages are left.
  const { facts, titleStart } = before !== undefined && now.facts['deletedInCursor'] === true ? before : now
  const { deletedInCursor } = now.facts
  return { ...now, titleStart, facts: { ...facts, deletedInCursor, ...countsOf(messages) }, messages }
}

const lost = (message: ExpectedMessage): ExpectedMessage => ({ ...message, deletedInCursor: true })

/** The thread in order, then the orphans by time. */
function byPlace(one: ExpectedMessage, other: ExpectedMessage): number {
  if (one.position !== null && other.position !== null) return one.position - other.position
  if (one.position !== other.position) return one.position === null ? 1 : -1
  return (one.createdAt ?? '').localeCompare(other.createdAt ?? '')
}
