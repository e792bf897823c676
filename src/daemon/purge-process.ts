import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Trouble } from '../model/trouble.ts'
import { deferred } from './deferred.ts'
import type { PurgeNews, PurgeTask, PurgeTasks } from './purge/purge-orders.ts'

/** Does one task, wherever that is. @param signal ends it */
export type DoPurgeTask = <Task extends PurgeTask>(
  task: Task,
  order: PurgeTasks[Task]['order'],
  signal: AbortSignal,
) => Promise<PurgeTasks[Task]['outcome']>

/** In a process of its own. What is looked for goes there as a message, never as an argument. */
export const inPurgeProcess: DoPurgeTask = async (task, order, signal) => {
  const path = fileURLToPath(new URL('../daemon/purge-child.js', import.meta.url))
  const child = fork(path, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
  const obeyed = deferred<PurgeTasks[PurgeTask]['outcome']>()
  const end = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', end)
  child.on('message', (news: PurgeNews) => {
    if (news.kind === 'outcome') obeyed.resolve(news.outcome)
    else obeyed.reject(new Trouble(news.code, news.message, news.hint))
  })
  const died = (): void =>
    obeyed.reject(new Trouble('purge-died', 'The process that was at work on the purge ended.', 'Purge once more.'))
  child.on('error', died)
  child.on('exit', died)
  child.send({ task, order })
  try {
    // A task is answered with an outcome of its kind.
    return await obeyed.promise
  } finally {
    signal.removeEventListener('abort', end)
  }
}
