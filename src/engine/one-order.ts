import { UserError } from '../model/user-error.ts'
import { deferred } from './deferred.ts'
import { withMemoryBudget, type MemoryBudget } from './memory-budget.ts'
import { startChild, type ChildProgram } from './start-child.ts'

/** What a process says that obeys one order: how far it is, and last what came of it. */
export type OrderNews<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly hint: string }

/** An order that is being obeyed, wherever that is. */
export interface OrderedWork<Result> {
  readonly result: Promise<Result>
  /** Ends it, whatever it is at. */
  stop(): void
}

interface Obeying<Progress> {
  readonly program: ChildProgram
  /** What it means that the process ended without a word. */
  readonly died: UserError
  readonly onProgress?: (progress: Progress) => void
}

/** What these processes make is short-lived: with little room for it one takes 10 to 20 MB less, and no longer. */
const FRUGAL = ['--max-semi-space-size=2']

/** The work is begun while room for it is made: it takes its memory later than that. */
export function inMemoryBudget<Result>(room: MemoryBudget, start: () => OrderedWork<Result>): OrderedWork<Result> {
  const work = start()
  void withMemoryBudget(room, () => work.result).catch(() => undefined)
  return work
}

/** Starts a process that obeys one order. It goes there as a message, and never as an argument, which others can read. */
export function startOrder<Progress, Result>(
  order: object,
  { program, died, onProgress }: Obeying<Progress>,
): OrderedWork<Result> {
  const child = startChild(program, [], FRUGAL)
  const obeyed = deferred<Result>()
  child.on('message', (news: OrderNews<Progress, Result>) => {
    if (news.kind === 'progress') onProgress?.(news.progress)
    else if (news.kind === 'result') obeyed.resolve(news.result)
    else obeyed.reject(new UserError(news.code, news.message, news.hint))
  })
  child.on('error', () => obeyed.reject(died))
  child.on('exit', () => obeyed.reject(died))
  child.send(order)
  return { result: obeyed.promise, stop: () => void child.kill('SIGKILL') }
}
