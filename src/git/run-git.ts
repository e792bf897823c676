import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { parse } from 'node:path'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_ARGUMENTS, harmlessEnvironment, findGit, type Environment } from './harmless.ts'

export interface GitCall {
  /** Folder that git is asked about. It is never the working directory, in which systems look for programs. */
  readonly root: string
  readonly arguments: readonly string[]
  readonly input?: string
}

const OUTPUT_LENGTH_MAX = 64_000_000
/** No path and no subject is longer in a repository that was made to be read. */
const TOKEN_LENGTH_MAX = 1_000_000
const STDERR_LENGTH_MAX = 4000

export interface GitWorld {
  readonly env: Environment
  /** Ends git whenever it comes. */
  readonly stop: AbortSignal
  readonly withinMs: number
}

/**
 * What git says, cut at its NULs. Who stops taking ends the process.
 * @throws UserError `git-missing`, `not-a-repository`, `repo-foreign`, `git-slow`, `git-failed`, and `git-silent` where git
 * ends without a word, as its quiet questions do whose answer is no
 */
export async function* gitTokens(call: GitCall, world: GitWorld): AsyncGenerator<string, void> {
  if (world.stop.aborted) throw new UserError('stopped', 'The program is stopping.', 'Ask again when it runs.')
  const git = findGit(world.env)
  if (git === null) throw new UserError('git-missing', 'Git is not installed, or not in the PATH.', 'Install git.')
  const child = spawn(git, [...HARMLESS_ARGUMENTS, '-C', call.root, ...call.arguments], {
    cwd: parse(process.execPath).root,
    env: harmlessEnvironment(world.env),
    stdio: 'pipe',
    windowsHide: true,
    // By its own timer: a signal made of several that time out is forgotten by Node 20 when memory is collected.
    timeout: world.withinMs,
    killSignal: 'SIGKILL',
  })
  const kill = (): void => void child.kill('SIGKILL')
  world.stop.addEventListener('abort', kill)
  const ended = endOf(child, call)
  // It may fail while what it said is still being read; whoever waits for it afterwards hears of that.
  ended.catch(() => undefined)
  try {
    yield* tokensOf(child, call)
    await ended
  } catch (error) {
    if (child.signalCode !== null) throw slow(call, world.withinMs)
    if (isNotStarted(error)) throw failed(call, `it could not be started (${error.code})`)
    throw error
  } finally {
    world.stop.removeEventListener('abort', kill)
    kill()
  }
}

/** The lines of a short answer. @throws UserError as `gitTokens` does */
export async function gitLines(call: GitCall, world: GitWorld): Promise<string[]> {
  let text = ''
  for await (const token of gitTokens(call, world)) text += token
  return text.split('\n').filter((line) => line !== '')
}

/** Too many processes or files, or no memory. */
const isNotStarted = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')

async function* tokensOf({ stdout }: ChildProcessWithoutNullStreams, call: GitCall): AsyncGenerator<string, void> {
  let pending = ''
  let length = 0
  for await (const chunk of stdout.setEncoding('utf8')) {
    const text = String(chunk)
    length += text.length
    const tokens = (pending + text).split('\0')
    pending = tokens.pop() ?? ''
    yield* tokens
    if (length > OUTPUT_LENGTH_MAX || pending.length > TOKEN_LENGTH_MAX) throw failed(call, 'it says too much')
  }
  if (pending !== '') yield pending
}

/** Resolves once the process is gone and all was well. A program that it left behind may hold the pipes: cut them. */
async function endOf(child: ChildProcessWithoutNullStreams, call: GitCall): Promise<void> {
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, STDERR_LENGTH_MAX)
  })
  child.on('exit', (_code, signal) => {
    if (signal !== null) for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  })
  // It may end before it has read all; its own words say why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(call.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw explain(call, said)
}

function explain(call: GitCall, said: string): UserError {
  const { root } = call
  if (/dubious ownership/.test(said)) {
    const text = `The repository at ${root} belongs to another user, and git does not read such a one.`
    return new UserError('repo-foreign', text, 'Run cursordex as the user who owns the repository.')
  }
  if (/not a git repository|must be run in a work tree|cannot use bare repository/.test(said)) {
    return new UserError('not-a-repository', `${root} is no git repository.`, 'Name a project that is one.')
  }
  const why = said.trim().split('\n')[0]?.slice(0, 200) ?? ''
  return why === '' ? failed(call, 'it ended without a word', 'git-silent') : failed(call, why)
}

const failed = ({ root }: GitCall, why: string, code = 'git-failed'): UserError =>
  new UserError(code, `Git could not read the repository at ${root}: ${why}.`, 'See what "git log" says there.')

const slow = ({ root }: GitCall, withinMs: number): UserError =>
  new UserError('git-slow', `Git did not read the repository at ${root} in ${withinMs / 1000} s.`, 'Ask for less.')
