import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Trouble } from '../model/trouble.ts'
import type { ArchiveNews, ArchiveOrder, ArchiveResult } from './archive-orders.ts'
import { deferred } from './deferred.ts'

export interface Progress {
  readonly done: number
  readonly total: number
}

/** An order that is being obeyed, wherever that is. */
export interface ArchiveWork<Result = ArchiveResult> {
  readonly result: Promise<Result>
  stop(): void
}

export type StartArchiveWork = (order: ArchiveOrder, onProgress: (progress: Progress) => void) => ArchiveWork

const FRUGAL = ['--max-semi-space-size=4', '--optimize-for-size']

/** Starts a process of low priority that obeys one order. */
export const startArchiveProcess: StartArchiveWork = (order, onProgress) => {
  const path = fileURLToPath(new URL('../daemon/archive-child.js', import.meta.url))
  const child = fork(path, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: FRUGAL })
  const obeyed = deferred<ArchiveResult>()
  child.on('message', (news: ArchiveNews) => {
    if (news.kind === 'progress') onProgress({ done: news.done, total: news.total })
    else if (news.kind === 'result') obeyed.resolve(news.result)
    else obeyed.reject(new Trouble(news.code, news.message, news.hint))
  })
  const died = (): void => {
    const hint = 'The runs before are as they were; it is tried again.'
    obeyed.reject(new Trouble('archive-died', 'The process that was at work on the archive ended.', hint))
  }
  child.on('error', died)
  child.on('exit', died)
  child.send(order)
  return { result: obeyed.promise, stop: () => void child.kill('SIGKILL') }
}
