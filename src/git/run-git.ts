import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { parse } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { Trouble } from '../model/trouble.ts'
import { findGit } from './find-git.ts'
import type { Environment } from './find-git.ts'
import { HARMLESS_ARGUMENTS, harmlessEnvironment } from './harmless.ts'

export interface GitCall {
  /** Folder that git is asked about. It is never the working directory, in which systems look for programs. */
  readonly root: string
  readonly arguments: readonly string[]
  readonly input?: string
}

/** A question takes longer only where a disk hangs, or where somebody means it to. */
const WITHIN_MS = 10_000
const OUTPUT_LENGTH_MAX = 64_000_000
/** No path and no subject is longer in a repository that was made to be read. */
const TOKEN_LENGTH_MAX = 1_000_000
const STDERR_LENGTH_MAX = 4000

/**
 * What git says, cut at its NULs. Who stops taking ends the process.
 * @throws Trouble `git-missing`, `not-a-repository`, `repo-foreign`, `git-slow`, `git-failed`, and `git-silent` where git
 * ends without a word, as its quiet questions do whose answer is no
 */
export async function* gitTokens(call: GitCall, env: Environment, stop: AbortSignal): AsyncGenerator<string, void> {
  const git = findGit(env)
  if (git === null) throw new Trouble('git-missing', 'Git is not installed, or not in the PATH.', 'Install git.')
  const signal = AbortSignal.any([AbortSignal.timeout(WITHIN_MS), stop])
  const child = spawn(git, [...HARMLESS_ARGUMENTS, '-C', call.root, ...call.arguments], {
    cwd: parse(process.execPath).root,
    env: harmlessEnvironment(env),
    stdio: 'pipe',
    windowsHide: true,
  })
  const ended = endOf(child, call, signal)
  try {
    yield* tokensOf(child, call)
    await ended
  } catch (error) {
    if (signal.aborted) throw slow(call)
    throw error
  } finally {
    child.kill('SIGKILL')
    // Heard of already, or of no interest: nobody takes any more.
    ended.catch(() => undefined)
  }
}

/** The lines of a short answer. @throws Trouble as `gitTokens` does */
export async function gitLines(call: GitCall, env: Environment, stop: AbortSignal): Promise<string[]> {
  let text = ''
  for await (const token of gitTokens(call, env, stop)) text += token
  return text.split('\n').filter((line) => line !== '')
}

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
async function endOf(child: ChildProcessWithoutNullStreams, call: GitCall, signal: AbortSignal): Promise<void> {
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, STDERR_LENGTH_MAX)
  })
  const kill = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  addAbortSignal(signal, child.stdout)
  // It may end before it has read all; its own words say why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(call.input ?? '')
  try {
    const [code] = (await once(child, 'close', { signal })) as [number | null]
    if (code !== 0) throw explain(call, said)
  } finally {
    signal.removeEventListener('abort', kill)
  }
}

function explain(call: GitCall, said: string): Trouble {
  const { root } = call
  if (/dubious ownership/.test(said)) {
    const text = `The repository at ${root} belongs to another user, and git does not read such a one.`
    return new Trouble('repo-foreign', text, 'Run cursordex as the user who owns the repository.')
  }
  if (/not a git repository|must be run in a work tree|cannot use bare repository/.test(said)) {
    return new Trouble('not-a-repository', `${root} is no git repository.`, 'Name a project that is one.')
  }
  const why = said.trim().split('\n')[0]?.slice(0, 200) ?? ''
  return why === '' ? failed(call, 'it ended without a word', 'git-silent') : failed(call, why)
}

const failed = ({ root }: GitCall, why: string, code = 'git-failed'): Trouble =>
  new Trouble(code, `Git could not read the repository at ${root}: ${why}.`, 'See what "git log" says there.')

const slow = ({ root }: GitCall): Trouble =>
  new Trouble('git-slow', `Git did not read the repository at ${root} in ${WITHIN_MS / 1000} s.`, 'Ask for less.')
