import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { parse } from 'node:path'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_ARGUMENTS, harmlessEnvironment, findGit, type Environment } from './harmless.ts'

const OUTPUT_LENGTH_MAX = 64_000_000
const STDERR_LENGTH_MAX = 4000

export interface GitWorld {
  readonly env: Environment
  /** Kills git when it is aborted. */
  readonly stop: AbortSignal
  readonly withinMs: number
}

export interface GitCall {
  /** Folder of the repository. It is never git's working directory, because some systems search that for programs. */
  readonly root: string
  readonly words: readonly string[]
  readonly input?: string
}

/**
 * What git prints.
 * @throws UserError `stopped`, `git-missing`, `not-a-repository`, `repo-foreign`, `git-slow` or `git-failed`
 */
export async function runGit({ root, words, input = '' }: GitCall, world: GitWorld): Promise<string> {
  const { env, stop, withinMs } = world
  const git = findGit(env)
  if (git === null) throw new UserError('git-missing', 'Git is not installed, or not in the PATH.', 'Install git.')
  if (stop.aborted) throw stopped()
  const child = spawn(git, [...HARMLESS_ARGUMENTS, '-C', root, ...words], {
    cwd: parse(process.execPath).root,
    env: harmlessEnvironment(env),
    stdio: 'pipe',
    windowsHide: true,
    // Not `AbortSignal.any` with a timeout: Node 20 may garbage-collect such a combined signal before it fires.
    timeout: withinMs,
    signal: stop,
    killSignal: 'SIGKILL',
  })
  let [output, complaint] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length <= OUTPUT_LENGTH_MAX) output += text
    else child.kill('SIGKILL')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, STDERR_LENGTH_MAX)
  })
  // A child of a killed git may keep the pipes open.
  child.on('exit', (_code, signal) => {
    if (signal !== null) for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  })
  // Git may end before it has read all input. Its own message says why.
  child.stdin.on('error', () => undefined).end(input)
  const code = await once(child, 'close').then(
    ([ended]) => ended as number | null,
    (error: NodeJS.ErrnoException) => {
      // For example too many processes or open files, or not enough memory.
      throw stop.aborted ? stopped() : failed(root, `it could not be started (${error.code})`)
    },
  )
  if (output.length > OUTPUT_LENGTH_MAX) throw failed(root, 'its output is too long')
  if (code === null) throw slow(root, withinMs)
  if (code !== 0) throw explained(root, complaint)
  return output
}

function explained(root: string, complaint: string): UserError {
  if (/dubious ownership/.test(complaint)) {
    const text = `The repository at ${root} belongs to another user, and git refuses to read it.`
    return new UserError('repo-foreign', text, 'Run cursordex as the user who owns the repository.')
  }
  if (/not a git repository|must be run in a work tree|cannot use bare repository/.test(complaint)) {
    return new UserError('not-a-repository', `${root} is not a git repository.`, 'Name a project that is one.')
  }
  return failed(root, complaint.trim().split('\n')[0]?.slice(0, 200) || 'it failed without a message')
}

const stopped = (): UserError => new UserError('stopped', 'The program is stopping.', 'Try again when it is running.')

function failed(root: string, why: string): UserError {
  const text = `Git could not read the repository at ${root}: ${why}.`
  return new UserError('git-failed', text, 'Run "git log" there to see the problem.')
}

function slow(root: string, withinMs: number): UserError {
  const text = `Git did not finish reading the repository at ${root} within ${withinMs / 1000} s.`
  return new UserError('git-slow', text, 'Ask for less.')
}
