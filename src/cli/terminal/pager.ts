import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Environment } from '../../settings.ts'
import { printTo } from './screen.ts'

/** Ctrl-C goes to every program in the terminal. The pager decides what it means, and must not lose its parent. */
const ignoreInterrupt = (): void => {}

export type Pager = NonNullable<Awaited<ReturnType<typeof openPager>>>

/**
 * Starts `$PAGER`, or `less` if there is one. Null if neither can be started, or if `PAGER` is empty or `cat`. Printing to
 * it throws `PipeClosed` if the user has left it.
 */
export async function openPager(env: Environment) {
  const [command, ...args] = (env['PAGER'] ?? 'less -R').trim().split(/\s+/)
  if (command === undefined || command === '' || command === 'cat') return null
  // As git does: a text that fits the screen needs no key to leave, and colours stay colours.
  const child = spawn(command, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...env, LESS: env['LESS'] ?? 'FRX' },
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  try {
    await once(child, 'spawn')
  } catch {
    return null
  }
  process.on('SIGINT', ignoreInterrupt)
  /** Waits until the user leaves the pager. */
  const close = async (): Promise<void> => {
    child.stdin.end()
    await ended
    process.removeListener('SIGINT', ignoreInterrupt)
  }
  return { print: printTo(child.stdin), close }
}
