import { listArchivedChats, type ArchivedChatsRequest } from './queries/list-archived.ts'
import type { Mirror } from '../mirror/open.ts'
import { listEdits, listFiles, type FileHistoryRequest, type FilesRequest } from './queries/files.ts'
import { answerStats, type StatsAnswer, type StatsRequest } from './reports/stats/answer-stats.ts'
import { findInChat, type FindRequest } from './search/find-in-chat.ts'
import { searchBody, type SearchBodyRequest } from './search/search.ts'
import { suggest, type SuggestRequest } from './search/suggest.ts'
import { readLedger } from './tokens/ledger.ts'
import type { TokensRequest } from './tokens/request.ts'
import type { TokensAnswer } from './answers/tokens.ts'

/** The body of a response, as JSON. The daemon passes it on as it is. */
type Body = string

/** The slow requests, which a separate process answers: request and answer for each kind. */
export interface Questions {
  readonly search: { readonly request: SearchBodyRequest; readonly answer: Body }
  readonly find: { readonly request: FindRequest; readonly answer: Body }
  readonly suggest: { readonly request: SuggestRequest; readonly answer: Body }
  readonly stats: { readonly request: StatsRequest; readonly answer: StatsAnswer }
  readonly tokens: { readonly request: TokensRequest; readonly answer: TokensAnswer }
  readonly files: { readonly request: FilesRequest; readonly answer: ReturnType<typeof listFiles> }
  readonly archived: { readonly request: ArchivedChatsRequest; readonly answer: ReturnType<typeof listArchivedChats> }
  readonly edits: { readonly request: FileHistoryRequest; readonly answer: ReturnType<typeof listEdits> }
}
export type QuestionKind = keyof Questions

/** A request of one kind, or of any kind. */
export type Question<Kind extends QuestionKind = QuestionKind> = {
  [Each in Kind]: { readonly kind: Each; readonly request: Questions[Each]['request'] }
}[Kind]

/** Sends a question. The daemon decides which process answers. @throws UserError `deadline` */
export type Ask = <Kind extends QuestionKind>(question: Question<Kind>) => Promise<Questions[Kind]['answer']>

type Answerers = {
  readonly [Kind in QuestionKind]: (db: Mirror, request: Questions[Kind]['request']) => Questions[Kind]['answer']
}

const answerers: Answerers = {
  search: searchBody,
  find: findInChat,
  suggest: (db, request) => JSON.stringify(suggest(db, request)),
  stats: (db, request) => answerStats(db, request),
  tokens: (db, request) => readLedger(db, request),
  files: (db, request) => listFiles(db, request),
  archived: (db, request) => listArchivedChats(db, request),
  edits: (db, request) => listEdits(db, request),
}

/** Answers in this process, however long it takes: whoever cannot wait kills it. */
export function answerQuestion<Kind extends QuestionKind>(
  db: Mirror,
  question: Question<Kind>,
): Questions[Kind]['answer'] {
  return answerers[question.kind](db, question.request)
}
