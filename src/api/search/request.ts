import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import type { ProjectRef } from '../../model/project.ts'
import type { ColumnName } from '../../text/terms/columns.ts'
import type { Clock } from '../periods.ts'
import type { FieldName, FieldNode } from './language/tree.ts'

export const searchSorts = ['relevance', 'newest', 'oldest'] as const
export type SearchSort = (typeof searchSorts)[number]

export const facetNames = ['project', 'role', 'part', 'tool', 'model', 'month'] as const
export type FacetName = (typeof facetNames)[number]

/** Filters besides the query. Each means the same as a field of the query, and one matching value is enough. */
export const filterNames = ['project', 'role', 'in', 'tool', 'model', 'mode', 'path', 'chat', 'from', 'to'] as const
export type FilterName = (typeof filterNames)[number]
export type SearchFilters = Readonly<Partial<Record<FilterName, readonly string[]>>>

export interface SearchRequest {
  readonly q: string
  readonly filters: SearchFilters
  /** Time zone and present time, for dates. */
  readonly clock: Clock
  readonly sort: SearchSort
  /** One item per message, or per chat. */
  readonly group: 'message' | 'chat'
  readonly facets: readonly FacetName[]
  readonly explain: boolean
  /** Searches exactly what was typed: a misspelt word is not replaced, only suggested. */
  readonly isLiteral?: boolean
  readonly limit: number
  readonly offset: number
  /** Milliseconds after which the search answers with what it has; undefined for no limit. */
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
  /** HTML-escaped, with matches in `<mark>`. */
  readonly snippet: string
  /** Higher is better, comparable only within one answer. 0 if the order is by time. */
  readonly score: number
  /** With `group: 'chat'`: how many messages of the chat match. */
  readonly matchCount?: number
}

/** A chat that matches only a part of the query, with the best passage. */
export interface RelatedChat extends SearchHit {
  /** Words of the query that the chat has, in any form and in any message. */
  readonly matched: readonly string[]
  /** Words that it lacks. Function words are in neither list if the query has other words. */
  readonly missing: readonly string[]
}

export interface SearchSuggestion {
  /** For `spelling` and `without-word`: the query to try. For `without-filter`: the filter to drop, by name or as written. */
  readonly text: string
  readonly reason: 'spelling' | 'without-filter' | 'without-word'
  readonly count: number
  /** The query to try, if the filter to drop is in the query. */
  readonly query?: string
  /** The filters besides the query that must be dropped too for this count. */
  readonly filters?: readonly FilterName[]
}

export interface FacetValue {
  /** The value for a filter. */
  readonly value: string
  readonly label: string
  readonly count: number
}

/** How a search was understood and run, in readable form. */
export interface SearchExplanation {
  /** The query as it was understood. */
  readonly query: string
  /** The same as a tree, one line per node. */
  readonly tree: readonly string[]
  /** The filters besides the query. */
  readonly filters: readonly string[]
  /** The alternatives. A message must match one of them. */
  readonly ways: readonly {
    /** The query for the full-text index. */
    readonly match: string | null
    /** What is excluded, as a query for the index. */
    readonly exclude: string | null
    /** Smallest and largest key of a message. They come from dates and from the chats. */
    readonly keys: readonly [string, string] | null
    readonly chats: number | null
    readonly tests: readonly string[]
  }[]
  /** The queries for titles. */
  readonly titles: readonly string[]
  /** The steps, in order. */
  readonly steps: readonly string[]
}

export interface SearchAnswer {
  readonly query: string
  /** The corrected query, if the original finds nothing and these are the hits of a similar one. */
  readonly correctedQuery: string | null
  readonly total: number
  /** False if `total` is a lower bound: more than 1,000 hits, or out of time. */
  readonly totalIsExact: boolean
  readonly tookMs: number
  readonly items: readonly SearchHit[]
  /**
   * The closest other chats, the best first. They are looked for on the first page by relevance, if fewer than ten chats
   * match the whole query. They are not in `items` and not counted in `total`.
   */
  readonly related: readonly RelatedChat[]
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
  /** True if the deadline ended the search early. */
  readonly isPartial: boolean
  /** How the query was understood and run, with `explain`. */
  readonly plan?: SearchExplanation
}

/** The field of the query that a filter corresponds to. */
const fieldOfFilter = (name: FilterName): FieldName => {
  if (name === 'from') return 'after'
  return name === 'to' ? 'before' : name
}

/** The filters as fields of a query. */
export function filterNodes(filters: SearchFilters): readonly FieldNode[] {
  return filterNames.flatMap((name) => {
    const values = filters[name]
    return values === undefined ? [] : [{ kind: 'field', name: fieldOfFilter(name), values } as const]
  })
}
