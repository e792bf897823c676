import { countsOf } from '../oracle.ts'
import type { ExpectedChat, ExpectedMessage } from '../oracle.ts'

type Chats = ReadonlyMap<string, ExpectedChat>

/**
 * The expected answers after a store has lost something: everything that was ever in it, with deleted items marked. Lost
 * chats keep their thread, and lost messages keep their place in the list of their chat.
 */
export class Memory {
  #seen: Chats = new Map()

  /** @param held what is in the store now */
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
  // Facts from the row of a chat are remembered when only the rows of its messages are left.
  const { facts, titleStart } = before !== undefined && now.facts['deletedInCursor'] === true ? before : now
  const { deletedInCursor } = now.facts
  return { ...now, titleStart, facts: { ...facts, deletedInCursor, ...countsOf(messages) }, messages }
}

const lost = (message: ExpectedMessage): ExpectedMessage => ({ ...message, deletedInCursor: true })

/** The thread first, then the orphans by time. */
function byPlace(one: ExpectedMessage, other: ExpectedMessage): number {
  if (one.position !== null && other.position !== null) return one.position - other.position
  if (one.position !== other.position) return one.position === null ? 1 : -1
  return (one.createdAt ?? '').localeCompare(other.createdAt ?? '')
}
