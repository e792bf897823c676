export interface SuggestRequest {
  /** What was typed so far. */
  readonly q: string
  /** 1 to 20. */
  readonly limit: number
}

export type SuggestionKind = 'chat' | 'project' | 'tool' | 'file' | 'term'

export interface Suggestion {
  readonly kind: SuggestionKind
  /** What to show. */
  readonly text: string
  /** What to ask by: an id of a chat or project, a tool's name, a file's path, the query with the word put in. */
  readonly id: string
  /** Up to 1, higher is better; comparable within one answer only. */
  readonly score: number
}

export interface SuggestAnswer {
  /** Best first. */
  readonly items: readonly Suggestion[]
  /** False while the words of the mirror are being gathered, and so rare ones may stand before frequent ones. */
  readonly isComplete: boolean
  readonly tookMs: number
}
