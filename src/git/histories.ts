import { execFile, type ExecFileException } from 'node:child_process'
import { parse, delimiter, isAbsolute, join } from 'node:path'
import type * as model from '../model/commit.ts'
import type { Commit } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import { devNull } from 'node:os'
import { accessSync, constants, existsSync, statSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Path of an installed program; null if there is none. Folders that a project may control are skipped: `npx` puts the
 * project's own `node_modules/.bin` first in the PATH, and a relative folder may be anywhere.
 * @param endings of its file on Windows, the first one first
 */
export function findProgram(name: string, env: Environment, endings: readonly string[] = ['.exe']): string | null {
  const names = process.platform === 'win32' ? endings.map((ending) => `${name}${ending}`) : [name]
  const path = env['PATH'] ?? env['Path'] ?? ''
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(folder))
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // The file does not exist, or may not be run.
    return false
  }
}

/**
 * A repository's config can name programs, and its author may be hostile. Options on the command line override the config,
 * so our calls run no file watcher, hook, pager, external diff, signature check or transport. A bare repository inside the
 * folder is ignored too: a clone can contain one as plain files. Caches are small, see `MEMORY_MB_MAX`.
 */
const OVERRIDES: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': devNull,
  'core.untrackedCache': 'false',
  'core.deltaBaseCacheLimit': '32m',
  'core.packedGitLimit': '128m',
  'core.packedGitWindowSize': '32m',
  'core.pager': 'cat',
  'core.attributesFile': devNull,
  'core.sshCommand': 'false',
  'core.gitProxy': 'false',
  'credential.helper': '',
  'diff.external': '',
  'diff.orderFile': devNull,
  'diff.relative': 'false',
  'diff.ignoreSubmodules': 'all',
  'diff.submodule': 'short',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'log.follow': 'false',
  'log.mailmap': 'false',
  'log.showRoot': 'true',
  'log.showSignature': 'false',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
  'submodule.recurse': 'false',
}

/** Arguments before the name of git's command. */
export const HARMLESS_ARGUMENTS: readonly string[] = [
  '--no-pager',
  '--no-replace-objects',
  '--literal-pathspecs',
  ...Object.entries(OVERRIDES).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
]

/** Additional restrictions for `log` and `diff-tree`. */
export const HARMLESS_DIFF: readonly string[] = ['--no-ext-diff', '--no-textconv', '--no-color']

/**
 * The environment of git. It is built from an empty one, because nobody knows all variables that git reads. Without HOME
 * and a global config, exceptions in the user's own config have no effect either. A partial clone would fetch missing
 * objects over a transport that its config names, so no transport is allowed.
 */
export function harmlessEnvironment(env: Environment): Record<string, string> {
  const passed = ['PATH', 'Path', 'SystemRoot', 'SYSTEMROOT', 'windir', 'TMPDIR', 'TEMP', 'TMP']
  return {
    ...Object.fromEntries(passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    LC_ALL: 'C',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_TERMINAL_PROMPT: '0',
  }
}

/** The memory that git may take for itself. A repository can have a commit of gigabytes in a file of a megabyte. */
export const MEMORY_MB_MAX = 256

const SHELL = '/bin/sh'
/** Files that git maps, such as packs, are not counted. If a system has no such limit, git runs without it. */
const LIMITED = `ulimit -d ${MEMORY_MB_MAX * 1024} 2>/dev/null; exec "$0" "$@"`

/** The program and the arguments that run git with these words and little memory. Without a shell the memory has no limit. */
export const limited = (git: string, words: readonly string[]): readonly [program: string, given: string[]] =>
  process.platform !== 'win32' && existsSync(SHELL) ? [SHELL, ['-c', LIMITED, git, ...words]] : [git, [...words]]

/** A call takes longer only if a disk hangs, or if the repository was built to cause that. */
const WITHIN_MS = 10_000
const OUTPUT_MB_MAX = 32
/** A repository that hit a limit of time, memory or output is not asked again for so long. */
const REST_MS = 3_600_000
const COMMITS_MAX = 50_000
const SUBJECT_LENGTH_MAX = 300

const LOG: readonly string[] = 'log -z --no-notes --encoding=UTF-8 --no-show-signature --no-decorate'
  .split(' ')
  .concat(HARMLESS_DIFF, `--max-count=${COMMITS_MAX}`, '--format=tformat:%H%x00%P%x00%at%x00%ct%x00%s')
const FIELDS = 5
/** All local branches and the checked-out commit, if there is one. */
const TIPS = ['--branches', '--single-worktree', '--exclude=refs/*', '--all']
/** For a merge, only files that differ from all parents: those that were changed in the merge itself. */
const DIFF_TREE = 'diff-tree --stdin -r -z --root -c --no-renames --name-only --relative'
  .split(' ')
  .concat(HARMLESS_DIFF)

/** Reads the histories of repositories by calling git. It runs no program that a repository names. */
export class Histories implements model.Histories {
  readonly #env: Environment
  readonly #stop = new AbortController()
  /** The errors of repositories that hit a limit, by their folder, with the end of their rest in epoch milliseconds. */
  readonly #resting = new Map<string, { readonly untilMs: number; readonly error: UserError }>()
  #last: Promise<unknown> = Promise.resolve()

  /** @param env environment of this process; see `harmlessEnvironment` for what git gets of it */
  constructor(env: Environment) {
    this.#env = env
  }

  /**
   * Git's own date filter is not used: it stops at the first older commit, so one wrong clock would hide all commits
   * before it.
   */
  async read(folder: string): Promise<Commit[]> {
    return toCommits(await this.#git(folder, [...LOG, ...TIPS, '--']))
  }

  async resolve(folder: string, name: string): Promise<string | null> {
    const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
    const output = await this.#git(folder, words).catch((error: unknown) => {
      if (error instanceof UserError && error.code === 'git-failed') return ''
      throw error
    })
    return output.trim() || null
  }

  async touched(folder: string, commits: readonly Commit[]): Promise<ReadonlyMap<string, readonly string[]>> {
    // Git prints the sha of a commit and then its files. It does not print commits without changes.
    const touched = new Map(commits.map(({ sha }) => [sha, new Array<string>()]))
    let current: string[] = []
    const input = commits.map(({ sha }) => `${sha}\n`).join('')
    for (const token of (await this.#git(folder, DIFF_TREE, input)).split('\0')) {
      const next = touched.get(token)
      if (next !== undefined) current = next
      else if (token !== '') current.push(token)
    }
    return touched
  }

  /** The address from which the repository of a folder was cloned. Null if there is no git, no repository or no remote. */
  async remote(root: string): Promise<string | null> {
    const read = this.#git(root, ['config', '--get', 'remote.origin.url'])
    const output = await read.catch((error: unknown) => {
      if (error instanceof UserError) return ''
      throw error
    })
    return output.split('\n')[0] || null
  }

  /** Kills git. Further calls fail. */
  close(): void {
    this.#stop.abort()
  }

  /** One git runs at a time. Further calls wait. */
  #git(root: string, words: readonly string[], input = ''): Promise<string> {
    const answer = this.#last.then(() => this.#run(root, words, input))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  /**
   * What git prints. A repository that hit a limit gets the same error for an hour.
   * @param root folder of the repository. It is never git's working directory, because some systems search that for programs
   * @throws UserError `git-missing`, `repo-missing`, `not-a-repository`, `git-slow`, `git-failed`
   */
  #run(root: string, words: readonly string[], input: string): Promise<string> {
    const git = findProgram('git', this.#env)
    if (git === null)
      throw new UserError('git-missing', 'Git is not installed, or not in the PATH.', 'Install git.', UNREADABLE)
    const resting = this.#resting.get(root)
    if (resting !== undefined && Date.now() < resting.untilMs) throw resting.error
    this.#resting.delete(root)
    const options = {
      cwd: parse(process.execPath).root,
      env: harmlessEnvironment(this.#env),
      maxBuffer: OUTPUT_MB_MAX * 1_000_000,
      windowsHide: true,
      // Not `AbortSignal.any` with a timeout: Node 20 may garbage-collect such a combined signal before it fires.
      timeout: WITHIN_MS,
      signal: this.#stop.signal,
      killSignal: 'SIGKILL',
    } as const
    return new Promise((answer, refuse) => {
      const [program, given] = limited(git, [...HARMLESS_ARGUMENTS, '-C', root, ...words])
      const child = execFile(program, given, options, (error, output, complaint) => {
        if (error === null) return answer(output)
        const limit = limitOf(error, complaint)
        if (limit === null) return refuse(explained(root, error, complaint))
        const untilMs = Date.now() + REST_MS
        const refused = refusedBy(limit, root, untilMs)
        this.#resting.set(root, { untilMs, error: refused })
        refuse(refused)
      })
      // Git may end before it has read all input. Its own message says why.
      child.stdin?.on('error', () => undefined).end(input)
    })
  }
}

/** A history that cannot be read is no fault of the question. */
const UNREADABLE = { status: 409 }

type Limit = 'time' | 'memory' | 'output'

/** The limit that git hit; null if it failed for another reason. */
function limitOf({ code, killed, signal }: ExecFileException, complaint: string): Limit | null {
  // A code of Node is a text: git could not be started, was stopped, or printed too much.
  if (code?.toString() === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'output'
  if (killed === true && typeof code !== 'string') return 'time'
  // Nobody else sends this signal but a system whose memory is full.
  if (signal === 'SIGKILL' && killed !== true) return 'memory'
  return /out of memory|cannot allocate memory|mmap failed/i.test(complaint) ? 'memory' : null
}

function refusedBy(limit: Limit, root: string, untilMs: number): UserError {
  const why = {
    time: `Git did not finish reading the repository at ${root} within ${WITHIN_MS / 1000} seconds.`,
    memory: `Git needs more than ${MEMORY_MB_MAX} MB of memory to read the repository at ${root}.`,
    output: `Git prints more than ${OUTPUT_MB_MAX} MB about the repository at ${root}.`,
  }[limit]
  const text = `${why} It is not asked again before ${new Date(untilMs).toISOString()}.`
  return new UserError(limit === 'time' ? 'git-slow' : 'git-failed', text, 'Ask for less, or later.', UNREADABLE)
}

function explained(root: string, { code }: ExecFileException, complaint: string): UserError {
  if (/cannot change to/.test(complaint)) {
    const text = `There is no folder ${root} on this machine.`
    return new UserError('repo-missing', text, 'Name a project whose folder still exists.', UNREADABLE)
  }
  if (/not a git repository|cannot use bare repository/.test(complaint)) {
    const text = `${root} is not a git repository.`
    return new UserError('not-a-repository', text, 'Name a project that is one.', UNREADABLE)
  }
  const isOfNode = typeof code === 'string'
  const why = isOfNode ? code : complaint.trim().split('\n')[0]?.slice(0, 200) || 'it failed without a message'
  const text = `Git could not read the repository at ${root}: ${why}.`
  return new UserError('git-failed', text, 'Run "git log" there to see the problem.', UNREADABLE)
}

function toCommits(output: string): Commit[] {
  const fields = output.split('\0')
  return Array.from({ length: Math.floor(fields.length / FIELDS) }, (_, index) => {
    const of = fields.slice(index * FIELDS, (index + 1) * FIELDS)
    const [sha = '', parents = '', authoredAt = '', committedAt = '', subject = ''] = of
    return {
      sha,
      parent: parents.split(' ')[0] || null,
      madeAtMs: readSeconds(authoredAt) ?? readSeconds(committedAt),
      committedAtMs: readSeconds(committedAt),
      subject: subject.slice(0, SUBJECT_LENGTH_MAX).toWellFormed(),
    }
  })
}

/** A JavaScript date is limited to 8.64e15 ms. Commits can be made by hand and contain any number. */
function readSeconds(text: string): number | null {
  const ms = /^-?\d{1,13}$/.test(text) ? Number(text) * 1000 : Number.NaN
  return Math.abs(ms) <= 8.64e15 ? ms : null
}
