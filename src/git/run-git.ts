import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { parse } from 'node:path'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_ARGUMENTS, harmlessEnvironment, findGit, type Environment } from './harmless.ts'

export interface GitCall {
  /** Folder of the repository. It is never git's working directory, because some systems search that for programs. */
  readonly root: string
  readonly arguments: readonly string[]
  readonly input?: string
}

const OUTPUT_LENGTH_MAX = 64_000_000
/** No path or subject of an ordinary repository is longer. */
const TOKEN_LENGTH_MAX = 1_000_000
const STDERR_LENGTH_MAX = 4000

export interface GitWorld {
  readonly env: Environment
  /** Kills git when it is aborted. */
  readonly stop: AbortSignal
  readonly withinMs: number
}

/**
 * Git's output, split at NULs. If the caller stops iterating, the process is killed.
 * @throws UserError `stopped`, `git-missing`, `not-a-repository`, `repo-foreign`, `git-slow`, `git-failed`, or `git-silent`
 * if git fails without a message, which is how `--quiet` commands answer no
 */
export async function* gitTokens(call: GitCall, world: GitWorld): AsyncGenerator<string, void> {
  if (world.stop.aborted) throw new UserError('stopped', 'The program is stopping.', 'Try again when it is running.')
  const git = findGit(world.env)
  if (git === null) throw new UserError('git-missing', 'Git is not installed, or not in the PATH.', 'Install git.')
  const child = spawn(git, [...HARMLESS_ARGUMENTS, '-C', call.root, ...call.arguments], {
    cwd: parse(process.execPath).root,
    env: harmlessEnvironment(world.env),
    stdio: 'pipe',
    windowsHide: true,
    // Not `AbortSignal.any` with a timeout: Node 20 may garbage-collect such a combined signal before it fires.
    timeout: world.withinMs,
    killSignal: 'SIGKILL',
  })
  const kill = (): void => void child.kill('SIGKILL')
  world.stop.addEventListener('abort', kill)
  const ended = endOf(child, call)
  // Git may fail while its output is still being read. The error is reported when `ended` is awaited below.
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

/** Git's output as lines, for short outputs. @throws UserError as `gitTokens` does */
export async function gitLines(call: GitCall, world: GitWorld): Promise<string[]> {
  let text = ''
  for await (const token of gitTokens(call, world)) text += token
  return text.split('\n').filter((line) => line !== '')
}

/** For example too many processes or open files, or not enough memory. */
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
    if (length > OUTPUT_LENGTH_MAX || pending.length > TOKEN_LENGTH_MAX) throw failed(call, 'its output is too long')
  }
  if (pending !== '') yield pending
}

/** Resolves when the process has ended without an error. A child of a killed git may keep the pipes open, so they are closed. */
async function endOf(child: ChildProcessWithoutNullStreams, call: GitCall): Promise<void> {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, STDERR_LENGTH_MAX)
  })
  child.on('exit', (_code, signal) => {
    if (signal !== null) for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
  })
  // Git may end before it has read all input. Its own message says why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(call.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw explain(call, stderr)
}

function explain(call: GitCall, stderr: string): UserError {
  const { root } = call
  if (/dubious ownership/.test(stderr)) {
    const text = `The repository at ${root} belongs to another user, and git refuses to read it.`
    return new UserError('repo-foreign', text, 'Run cursordex as the user who owns the repository.')
  }
  if (/not a git repository|must be run in a work tree|cannot use bare repository/.test(stderr)) {
    return new UserError('not-a-repository', `${root} is not a git repository.`, 'Name a project that is one.')
  }
  const why = stderr.trim().split('\n')[0]?.slice(0, 200) ?? ''
  return why === '' ? failed(call, 'it failed without a message', 'git-silent') : failed(call, why)
}

const failed = ({ root }: GitCall, why: string, code = 'git-failed'): UserError =>
  new UserError(
    code,
    `Git could not read the repository at ${root}: ${why}.`,
    'Run "git log" there to see the problem.',
  )

const slow = ({ root }: GitCall, withinMs: number): UserError =>
  new UserError(
    'git-slow',
    `Git did not finish reading the repository at ${root} within ${withinMs / 1000} s.`,
    'Ask for less.',
  )
