import { setPriority } from 'node:os'
import { UserError } from '../model/user-error.ts'
import { endWithParent } from './end-with-parent.ts'
import type { OrderNews } from './one-order.ts'

interface Obedience<Order, Progress, Result> {
  /** Of the operating system. */
  readonly priority: number
  /** What a person can do about a failure that is nobody's trouble in particular. */
  readonly hint: string
  obey(order: Order, onProgress: (progress: Progress) => void): Promise<Result>
}

/** The whole life of a process that obeys one order. Where who asked is gone, however it ended, it goes, too. */
export function obeyOneOrder<Order, Progress, Result>(obedience: Obedience<Order, Progress, Result>): void {
  setPriority(obedience.priority)
  process.umask(0o077)
  const leave = endWithParent()
  const tell = (news: OrderNews<Progress, Result>, then = (): void => undefined): void => {
    process.send?.(news, then)
  }
  process.once('message', (order: Order) => {
    void obedience
      .obey(order, (progress) => tell({ kind: 'progress', progress }))
      .then((result): OrderNews<Progress, Result> => ({ kind: 'result', result }))
      .catch((error: unknown) => failureOf(error, obedience.hint))
      // The last word: the process ends once it is on its way.
      .then((news) => tell(news, leave))
  })
}

function failureOf(error: unknown, hint: string): OrderNews<never, never> {
  if (error instanceof UserError) return { kind: 'failed', code: error.code, message: error.message, hint: error.hint }
  return { kind: 'failed', code: 'fault', message: error instanceof Error ? error.message : String(error), hint }
}
