import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { realSurroundings } from '../settings.ts'

/** The programs beside this one that are started as processes of their own. */
export type ChildProgram = 'search-child' | 'estimate-child' | 'check-child' | 'archive-child' | 'purge-child'

/**
 * Starts one of the daemon's programs as a process of its own. What it says to stderr goes to the daemon's. Where it cannot
 * be started, its `error` says so later.
 * @param settings of V8, for this kind of work
 */
export function startChild(
  program: ChildProgram,
  words: readonly string[],
  settings: readonly string[] = [],
): ChildProcess {
  const child = fork(fileURLToPath(new URL(`../engine/${program}.js`, import.meta.url)), words, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [...settings],
    env: childEnvironment(),
  })
  // Where no descriptor was left for the process, Node has given it no channel: what is said to it goes nowhere.
  if (!('send' in child)) Object.assign(child, { send: () => false })
  return child
}

/**
 * - None of them speaks to anybody over a network. Node 20 takes apart all certificates of this file at every start, which
 *   for those of a whole system is longer than the start itself.
 * - Where glibc gives each thread memory of its own, it seldom gives any back: two processes that search take 16 to 21 MB
 *   less with one arena, and no longer. Other systems do not know the word.
 */
function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = realSurroundings().env
  return { MALLOC_ARENA_MAX: '1', ...env }
}
