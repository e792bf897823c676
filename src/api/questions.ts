import type { listArchivedChats, ArchivedChatsRequest } from './queries/list-archived.ts'
import type { Mirror } from '../mirror/open.ts'
import type { listEdits, listFiles, FileHistoryRequest, FilesRequest } from './queries/files.ts'
import type { StatsRequest } from './reports/stats.ts'
import type { Stats } from './answers/stats.ts'
import type { SearchBodyRequest } from './search/search.ts'
import type { FindRequest } from './search/find-in-chat.ts'
import type { SuggestRequest } from './search/suggest.ts'
import type { TokensRequest } from './tokens/ledger.ts'
import type { TokensAnswer } from './answers/tokens.ts'

/** The body of a response, as JSON. The daemon passes it on as it is. */
type Body = string

/** The slow requests, which a separate process answers: request and answer for each kind. */
export interface Questions {
  readonly search: { readonly request: SearchBodyRequest; readonly answer: Body }
  readonly find: { readonly request: FindRequest; readonly answer: Body }
  readonly suggest: { readonly request: SuggestRequest; readonly answer: Body }
  readonly stats: { readonly request: StatsRequest; readonly answer: Stats }
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

/** A process loads the code of the questions that it gets. */
type Answerers = {
  readonly [Kind in QuestionKind]: () => Promise<
    (db: Mirror, request: Questions[Kind]['request']) => Questions[Kind]['answer']
  >
}

const answerers: Answerers = {
  search: async () => (await import('./search/search.ts')).searchBody,
  find: async () => (await import('./search/find-in-chat.ts')).findInChat,
  suggest: async () => {
    const { suggest } = await import('./search/suggest.ts')
    return (db, request) => JSON.stringify(suggest(db, request))
  },
  stats: async () => (await import('./reports/stats.ts')).answerStats,
  tokens: async () => (await import('./tokens/ledger.ts')).readLedger,
  files: async () => (await import('./queries/files.ts')).listFiles,
  archived: async () => (await import('./queries/list-archived.ts')).listArchivedChats,
  edits: async () => (await import('./queries/files.ts')).listEdits,
}

/** Answers in this process, however long it takes: whoever cannot wait kills it. */
export async function answerQuestion<Kind extends QuestionKind>(
  db: Mirror,
  question: Question<Kind>,
): Promise<Questions[Kind]['answer']> {
  const answer = await answerers[question.kind]()
  return answer(db, question.request)
}
