import type { Mirror } from '../mirror/open.ts'
import type { SuggestRequest } from './search/suggest.ts'

/** The slow requests, which a separate process answers. It loads the code of the questions that it gets. */
const answerers = {
  search: async () => (await import('./search/search.ts')).searchBody,
  find: async () => (await import('./search/find-all.ts')).findInChat,
  suggest: async () => {
    const { suggest } = await import('./search/suggest.ts')
    return (db: Mirror, request: SuggestRequest): string => JSON.stringify(suggest(db, request))
  },
  stats: async () => (await import('./queries/stats.ts')).answerStats,
  tokens: async () => (await import('./queries/tokens.ts')).readLedger,
  files: async () => (await import('./queries/files.ts')).listFiles,
  archived: async () => (await import('./queries/archived-chat.ts')).listArchivedChats,
  edits: async () => (await import('./queries/files.ts')).listEdits,
}
export type QuestionKind = keyof typeof answerers
type Answerer<Kind extends QuestionKind> = Awaited<ReturnType<(typeof answerers)[Kind]>>
type AnswerTo<Kind extends QuestionKind> = ReturnType<Answerer<Kind>>

/** A request of one kind, or of any kind. */
export type Question<Kind extends QuestionKind = QuestionKind> = {
  [Each in Kind]: { readonly kind: Each; readonly request: Parameters<Answerer<Each>>[1] }
}[Kind]

/**
 * Sends a question. The daemon decides which process answers. A text is the body of a response, which is passed on as it is.
 * @throws UserError `deadline`
 */
export type Ask = <Kind extends QuestionKind>(question: Question<Kind>) => Promise<AnswerTo<Kind>>

/** Answers in this process, however long it takes: whoever cannot wait kills it. */
export async function answerQuestion<Kind extends QuestionKind>(
  db: Mirror,
  { kind, request }: Question<Kind>,
): Promise<AnswerTo<Kind>> {
  const answer = (await answerers[kind]()) as (db: Mirror, request: unknown) => AnswerTo<Kind>
  return answer(db, request)
}
