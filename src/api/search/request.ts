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

/** Filters beside the query, each with the values any of which will do: what a field of the query means, they mean. */
export const filterNames = ['project', 'role', 'in', 'tool', 'model', 'mode', 'path', 'chat', 'from', 'to'] as const
export type FilterName = (typeof filterNames)[number]
export type SearchFilters = Readonly<Partial<Record<FilterName, readonly string[]>>>

export interface SearchRequest {
  readonly q: string
  readonly filters: SearchFilters
  /** In which zone dates are read, and what `today` is. */
  readonly clock: Clock
  readonly sort: SearchSort
  /** One item a message, or a chat. */
  readonly group: 'message' | 'chat'
  readonly facets: readonly FacetName[]
  readonly explain: boolean
  /** Shows nothing but what was asked for: a misspelt word is not replaced, only noticed. */
  readonly isLiteral?: boolean
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
  /** Of an item that stands for its chat: how many of the chat's messages were found. */
  readonly matchCount?: number
}

/** A chat that comes close to what was asked for, with the passage that holds most of it. */
export interface RelatedChat extends SearchHit {
  /** Words of the query that the chat holds, in any form and in whichever message. */
  readonly matched: readonly string[]
  /** Those that it lacks. Function words stand in neither where others are asked for. */
  readonly missing: readonly string[]
}

export interface SearchSuggestion {
  /** For `spelling` and `without-word` the query to try; for `without-filter` the filter to drop, as it is named or written. */
  readonly text: string
  readonly reason: 'spelling' | 'without-filter' | 'without-word'
  readonly count: number
  /** The query to try, where the filter to drop stands in it. */
  readonly query?: string
  /** Of what `text` names, the filters that stand beside the query and must go too for it to find so many. */
  readonly filters?: readonly FilterName[]
}

export interface FacetValue {
  /** What to ask for. */
  readonly value: string
  readonly label: string
  readonly count: number
}

/** A search's plan, for people. */
export interface SearchExplanation {
  /** The query as it was understood, written anew. */
  readonly query: string
  /** The same as a tree, a line a node. */
  readonly tree: readonly string[]
  /** What stands beside the query. */
  readonly filters: readonly string[]
  /** The ways in which a message can pass; one is enough. */
  readonly ways: readonly {
    /** What the full-text index is asked. */
    readonly match: string | null
    /** What is left out. */
    readonly exclude: string | null
    /** Least and greatest key of a message: dates, and where the chats lie. */
    readonly keys: readonly [string, string] | null
    readonly chats: number | null
    readonly tests: readonly string[]
  }[]
  /** What titles are asked. */
  readonly titles: readonly string[]
  /** What is done, in order. */
  readonly steps: readonly string[]
}

export interface SearchAnswer {
  readonly query: string
  /** The query of which these are the hits, where the one that was asked finds nothing and is nearly this. */
  readonly correctedQuery: string | null
  readonly total: number
  /** False where `total` is a lower bound: over 1,000 hits, or out of time. */
  readonly totalIsExact: boolean
  readonly tookMs: number
  readonly items: readonly SearchHit[]
  /**
   * The chats that come closest, the best first, none of them in `items`: by relevance, on the first page, where fewer
   * than ten chats hold all that was asked for. Not counted in `total`.
   */
  readonly related: readonly RelatedChat[]
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
  /** True where the deadline cut the search short. */
  readonly isPartial: boolean
  /** How the query was understood and worked off, where that was asked for. */
  readonly plan?: SearchExplanation
}

/** What a filter is called in a query. */
const fieldOfFilter = (name: FilterName): FieldName => {
  if (name === 'from') return 'after'
  return name === 'to' ? 'before' : name
}

/** Filters beside a query as fields: both then mean the same. */
export function filterNodes(filters: SearchFilters): readonly FieldNode[] {
  return filterNames.flatMap((name) => {
    const values = filters[name]
    return values === undefined ? [] : [{ kind: 'field', name: fieldOfFilter(name), values } as const]
  })
}
