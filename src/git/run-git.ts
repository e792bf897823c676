import { execFile, type ExecFileException } from 'node:child_process'
import { parse } from 'node:path'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_ARGUMENTS, harmlessEnvironment, findGit, type Environment } from './harmless.ts'

const OUTPUT_OCTETS_MAX = 64_000_000

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
  const options = {
    cwd: parse(process.execPath).root,
    env: harmlessEnvironment(env),
    maxBuffer: OUTPUT_OCTETS_MAX,
    windowsHide: true,
    // Not `AbortSignal.any` with a timeout: Node 20 may garbage-collect such a combined signal before it fires.
    timeout: withinMs,
    signal: stop,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((answer, refuse) => {
    const child = execFile(git, [...HARMLESS_ARGUMENTS, '-C', root, ...words], options, (error, output, complaint) => {
      if (error === null) answer(output)
      else if (stop.aborted)
        refuse(new UserError('stopped', 'The program is stopping.', 'Try again when it is running.'))
      else refuse(explained(root, error, complaint))
    })
    // Git may end before it has read all input. Its own message says why.
    child.stdin?.on('error', () => undefined).end(input)
  })
}

function explained(root: string, { code, killed }: ExecFileException, complaint: string): UserError {
  if (/dubious ownership/.test(complaint)) {
    const text = `The repository at ${root} belongs to another user, and git refuses to read it.`
    return new UserError('repo-foreign', text, 'Run cursordex as the user who owns the repository.')
  }
  if (/not a git repository|must be run in a work tree|cannot use bare repository/.test(complaint)) {
    return new UserError('not-a-repository', `${root} is not a git repository.`, 'Name a project that is one.')
  }
  // A code of Node says that git could not be started, or that its output is too long.
  const isOfNode = typeof code === 'string'
  if (killed === true && !isOfNode) {
    return new UserError('git-slow', `Git did not finish reading the repository at ${root} in time.`, 'Ask for less.')
  }
  const why = isOfNode ? code : complaint.trim().split('\n')[0]?.slice(0, 200) || 'it failed without a message'
  const text = `Git could not read the repository at ${root}: ${why}.`
  return new UserError('git-failed', text, 'Run "git log" there to see the problem.')
}
