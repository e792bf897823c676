import type { ColumnName } from '../../text/columns.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import type { ProjectRef } from '../../model/project.ts'

export const searchSorts = ['relevance', 'newest', 'oldest'] as const
export type SearchSort = (typeof searchSorts)[number]

/** `null` in a filter: not given. An empty list is a filter that nothing passes. */
export interface SearchRequest {
  readonly q: string
  readonly projectNums: readonly number[] | null
  readonly roles: readonly Role[] | null
  readonly chatIds: readonly string[] | null
  /** Epoch milliseconds, inclusive. A message without a time passes no date filter. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  readonly sort: SearchSort
  readonly limit: number
  readonly offset: number
  /** Milliseconds from the start of the search after which it answers with what it has; none when not given. */
  readonly deadlineMs?: number | undefined
}

export interface SearchHit {
  readonly message: {
    readonly id: MessageId
    readonly chatId: ChatId
    readonly position: number | null
    readonly role: Role
    readonly createdAt: string | null
    readonly model: string | null
    readonly isOrphan: boolean
  }
  readonly part: ColumnName | 'title'
  readonly toolName: string | null
  readonly chat: { readonly id: ChatId; readonly title: string }
  readonly project: ProjectRef | null
  /** HTML-escaped, what was found in `<mark>`. */
  readonly snippet: string
  /** Higher is better; comparable within one answer only. 0 where nothing was ranked. */
  readonly score: number
}

export interface SearchSuggestion {
  /** For `without-word` the query to try; for `without-filter` the name of the filter to drop. */
  readonly text: string
  readonly reason: 'spelling' | 'without-filter' | 'without-word'
  readonly count: number
}

export interface SearchAnswer {
  readonly query: string
  readonly total: number
  /** False where `total` is a lower bound: over 100,000 hits, or out of time. */
  readonly totalIsExact: boolean
  readonly tookMs: number
  readonly items: readonly SearchHit[]
  readonly facets: Readonly<Record<string, readonly { value: string; label: string; count: number }[]>>
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
  /** True where the deadline cut the search short. */
  readonly isPartial: boolean
}
