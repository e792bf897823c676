import type { Question, QuestionKind, Questions } from '../api/questions.ts'

export interface SearchOrder {
  readonly question: Question
  /** Milliseconds from when it begins. */
  readonly deadlineMs: number
}

export type SearchReply =
  | { readonly kind: 'answer'; readonly answer: Questions[QuestionKind]['answer'] }
  | { readonly kind: 'failed'; readonly message: string; readonly isDamage: boolean }
