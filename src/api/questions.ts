import type { Mirror } from '../mirror/open.ts'
import { answerStats } from './reports/stats/answer-stats.ts'
import type { StatsAnswer, StatsRequest } from './reports/stats/stats.ts'
import type { SearchAnswer, SearchRequest } from './search/request.ts'
import { search } from './search/search.ts'
import { gatherWords } from './search/suggest/frequent-words.ts'
import { suggest, type SuggestAnswer, type SuggestRequest } from './search/suggest/suggest.ts'
import { createDeadline } from './search/deadline.ts'
import { tellTokens } from './tokens/ledger.ts'
import type { TokensAnswer, TokensRequest } from './tokens/request.ts'

/** What may take long, and is therefore asked of a process of its own: a request and its answer for each kind. */
export interface Questions {
  readonly search: { readonly request: SearchRequest; readonly answer: SearchAnswer }
  readonly suggest: { readonly request: SuggestRequest; readonly answer: SuggestAnswer }
  readonly stats: { readonly request: StatsRequest; readonly answer: StatsAnswer }
  readonly tokens: { readonly request: TokensRequest; readonly answer: TokensAnswer }
}
export type QuestionKind = keyof Questions

/** One question on its way; of one kind, or of any. */
export type Question<Kind extends QuestionKind = QuestionKind> = {
  [Each in Kind]: { readonly kind: Each; readonly request: Questions[Each]['request'] }
}[Kind]

/** Asks one question; how, and where it is answered, is the daemon's affair. @throws UserError `deadline`, `search-busy` */
export type Ask = <Kind extends QuestionKind>(question: Question<Kind>) => Promise<Questions[Kind]['answer']>

type Answerers = {
  readonly [Kind in QuestionKind]: (
    db: Mirror,
    request: Questions[Kind]['request'],
    deadlineMs: number,
  ) => Questions[Kind]['answer']
}

const answerers: Answerers = {
  search: (db, request, deadlineMs) => search(db, { ...request, deadlineMs }),
  suggest: (db, request) => suggest(db, request),
  stats: answerStats,
  tokens: (db, request) => tellTokens(db, request),
}

/**
 * Answers in this process.
 * @param deadlineMs milliseconds from now after which it is to answer with what it has, or may be killed
 */
export function answerQuestion<Kind extends QuestionKind>(
  db: Mirror,
  question: Question<Kind>,
  deadlineMs: number,
): Questions[Kind]['answer'] {
  return answerers[question.kind](db, question.request, deadlineMs)
}

/** Short, for a question may come meanwhile. */
const PREPARING_MS = 10

/**
 * What makes the next answers of a kind better, done between questions.
 * @returns whether there is more of it
 */
export function prepareAnswers(db: Mirror, kind: QuestionKind): boolean {
  return kind === 'suggest' && gatherWords(db, createDeadline(PREPARING_MS).isPassed)
}
