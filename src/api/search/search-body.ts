import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { SearchRequest } from './request.ts'
import { search } from './search.ts'

/** A search over HTTP. */
export interface SearchBodyRequest extends SearchRequest {
  /** What the mirror still lacks, as a sentence; null or missing if that is almost nothing. */
  readonly unread?: string | null
}

/**
 * The body of the response, as JSON. It is made where the search runs, so that it crosses to another process as a text.
 * @throws UserError `deadline` if the time ran out before anything was found
 */
export function searchBody(db: Mirror, { unread = null, ...request }: SearchBodyRequest): string {
  const answer = search(db, request)
  if (answer.isPartial && answer.items.length === 0) {
    throw new UserError('deadline', 'The search ran out of time before it found anything.', 'Use rarer words.')
  }
  return JSON.stringify({
    ...answer,
    totalIsExact: answer.totalIsExact && unread === null,
    warnings: [...answer.warnings, ...(unread === null ? [] : [unread])],
    limit: request.limit,
    offset: request.offset,
  })
}
