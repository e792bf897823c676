import { addressOf } from '../../shared/client.ts'
import { askAhead, type QueryOf } from '../lib/api.ts'
import { chatOpenAt } from '../search/asked.ts'

export type MessageQuery = QueryOf<'/api/chats/:id/messages'>

/** So many messages are asked for at once. */
export const PAGE = 200

export const pageOf = (query: MessageQuery): MessageQuery => ({ includeOrphans: true, limit: PAGE, ...query })

/** The first messages that a chat shows: around the one that its address names. */
export const firstOf = (target: string | null): MessageQuery =>
  pageOf(target === null ? { offset: 0 } : { around: target })

/** The message that the address names. */
export function targetOfAddress(): string | null {
  const text = location.hash.slice(1)
  if (text === '') return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Whoever comes by the address of a chat waits for it, not for the list beside it. @returns whether it is the address of a chat */
export function askForChat(): boolean {
  const id = chatOpenAt(location.pathname)
  if (id === null) return false
  askAhead(addressOf('/api/chats/:id', { id }))
  askAhead(addressOf('/api/chats/:id/messages', { id, query: firstOf(targetOfAddress()) }))
  return true
}
