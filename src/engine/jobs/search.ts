import { answerQuestion, type Question } from '../../api/questions.ts'
import type { Job } from './job.ts'

export interface SearchInput {
  readonly question: Question
  /** How long the search may take, in milliseconds. */
  readonly deadlineMs: number
}

/** Answers a search, a suggestion, statistics or tokens. SQLite cannot be interrupted here, so there is a single step. */
// oxlint-disable-next-line require-yield
export const searchJob: Job<SearchInput, unknown> = function* ({ question }, context) {
  return answerQuestion(context.mirror(), question)
}
