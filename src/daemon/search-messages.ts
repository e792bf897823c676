import type { SearchAnswer, SearchRequest } from '../api/search/request.ts'

export interface SearchOrder {
  readonly request: SearchRequest
}

export type SearchReply =
  | { readonly kind: 'answer'; readonly answer: SearchAnswer }
  | { readonly kind: 'failed'; readonly message: string; readonly isDamage: boolean }
