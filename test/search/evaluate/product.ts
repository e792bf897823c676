import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { NOW_MS } from '../corpus/make-corpus.ts'
import { LOOKED_AT, type Engine } from './engine.ts'

/**
 * cursordex's own search, the function behind HTTP and the command line, called with only the query and the time of the
 * corpus. Only this file knows how to call it.
 */
export function product(mirror: Mirror): Engine {
  return ({ q }) => {
    const { items, suggestions } = search(
      mirror,
      requestOf(q, { limit: LOOKED_AT, clock: { timeZone: 'UTC', nowMs: NOW_MS } }),
    )
    return {
      hits: items.map(({ message, part }) => ({
        messageId: part === 'title' ? null : message.id,
        chatId: message.chatId,
      })),
      spellings: suggestions.filter(({ reason }) => reason === 'spelling').map(({ text }) => text),
    }
  }
}
