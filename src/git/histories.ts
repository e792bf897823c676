import { stat } from 'node:fs/promises'
import type * as model from '../model/commit.ts'
import type { Commit, CommitList, Repository, TouchedFiles } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_DIFF, type Environment } from './harmless.ts'
import { runGit, type GitCall } from './run-git.ts'

/** A call takes longer only if a disk hangs, or if the repository was built to cause that. */
const WITHIN_MS = 10_000
/** Of a longer history, only the newest commits are read. */
const COMMITS_MAX = 50_000
/** The branches with the latest commits. Further ones are not listed. */
const BRANCHES_MAX = 2000
const SUBJECT_LENGTH_MAX = 300
/** A commit with more files adds a vendored tree or the like; its other files are of no interest. */
const FILES_MAX = 3000
/** Limit of git's rename detection, which compares all files with each other. */
const RENAMES_MAX = 400

/** The decoration of a commit is empty, or says that a shallow clone cut it off: names of branches and tags are left out. */
const LOG: readonly string[] = 'log -z --no-notes --encoding=UTF-8 --no-show-signature --decorate=full'
  .split(' ')
  .concat(HARMLESS_DIFF, '--decorate-refs=refs/none', '--format=tformat:%H%x00%P%x00%at%x00%ct%x00%an%x00%D%x00%s')
const FIELDS = 7
/** All local branches and the checked-out commit, if there is one. */
const TIPS = ['--branches', '--single-worktree', '--exclude=refs/*', '--all']
/** For a merge, only files that differ from all parents: those that were changed in the merge itself. */
const DIFF_TREE = ['diff-tree', '--stdin', '-r', '-z', '--root', '-c', ...HARMLESS_DIFF]

/** Reads the histories of repositories by calling git. It runs no program that a repository names. */
export class Histories implements model.Histories {
  readonly #env: Environment
  readonly #withinMs: number
  readonly #stop = new AbortController()
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param env environment of this process; see `harmlessEnvironment` for what git gets of it
   * @param withinMs time limit for one call of git
   */
  constructor(env: Environment, withinMs = WITHIN_MS) {
    this.#env = env
    this.#withinMs = withinMs
  }

  async open(root: string): Promise<Repository> {
    const isFolder = await stat(root).then(
      (found) => found.isDirectory(),
      () => false,
    )
    if (!isFolder) {
      const text = `There is no folder ${root} on this machine.`
      throw new UserError('repo-missing', text, 'Name a project whose folder still exists.')
    }
    const place = await this.#git({ root, words: ['rev-parse', '--show-toplevel', '--show-prefix'] })
    const [topLevel = root, prefix = ''] = place.split('\n')
    const format = '--format=%(objecttype) %(objectname) %(refname)'
    const words = ['for-each-ref', `--count=${BRANCHES_MAX}`, '--sort=-committerdate', format, 'refs/heads/']
    const heads = (await this.#git({ root, words })).matchAll(/^commit ([\da-f]+) refs\/heads\/(.+)$/gm)
    return { root, topLevel, prefix, branches: new Map(Array.from(heads, ([, sha = '', name = '']) => [name, sha])) }
  }

  /**
   * Git's own date filter is not used: it stops at the first older commit, so one wrong clock would hide all commits
   * before it. Git always continues with the newest known commit. So if the last one that was read is too old, the unread
   * ones are too, unless all clocks were wrong.
   */
  async list(repository: Repository, { sinceMs, alsoFrom }: Parameters<model.Histories['list']>[1]) {
    const from = alsoFrom === null ? [] : [checked(alsoFrom)]
    const words = [...LOG, `--max-count=${COMMITS_MAX + 1}`, ...TIPS, '--end-of-options', ...from, '--']
    const all = toCommits(await this.#git({ root: repository.root, words }))
    const isWanted = ({ committedAtMs }: Commit): boolean => (committedAtMs ?? Infinity) >= sinceMs
    const commits = all.slice(0, COMMITS_MAX).filter(isWanted)
    const within = repository.prefix === '' ? null : await this.#within(repository, commits)
    return { commits, within, isWhole: !all.slice(COMMITS_MAX).some(isWanted) } satisfies CommitList
  }

  /** Commits that changed something below the prefix: git prints a file after them. */
  async #within({ topLevel, prefix }: Repository, commits: readonly Commit[]): Promise<Set<string>> {
    const within = new Set<string>()
    const shas = new Set(commits.map(({ sha }) => sha))
    let last = ''
    // Pathspecs are relative to the folder of the call, and this one is relative to the top.
    const words = [...DIFF_TREE, '--no-renames', '--name-only', '--', prefix]
    for (const token of (await this.#git({ root: topLevel, words, input: inputOf(commits) })).split('\0')) {
      if (shas.has(token)) last = token
      else if (token !== '') within.add(last)
    }
    return within
  }

  async find({ root }: Repository, digits: string): Promise<Commit | null> {
    const words = [...LOG, '--no-walk', '--max-count=1', '--end-of-options', `${checked(digits)}^{commit}`, '--']
    try {
      // A branch or tag may have a name of hex digits too.
      return toCommits(await this.#git({ root, words })).find(({ sha }) => sha.startsWith(digits)) ?? null
    } catch (error) {
      // Git fails if there is no such commit, or more than one.
      if (error instanceof UserError && error.code === 'git-failed') return null
      throw error
    }
  }

  async touched({ root }: Repository, commits: readonly Commit[]): Promise<ReadonlyMap<string, TouchedFiles>> {
    const known = commits.filter(({ isCutOff }) => !isCutOff)
    const read = async (renames: string) => {
      const words = [...DIFF_TREE, '--name-status', renames, `-l${RENAMES_MAX}`]
      return toTouched(await this.#git({ root, words, input: inputOf(known) }), known)
    }
    try {
      return await read('--find-renames')
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'git-failed') throw error
      // A partial clone lacks file contents. Without them, only renames of unchanged files can be detected.
      return read('--find-renames=100%')
    }
  }

  /** The address from which the repository of a folder was cloned. @throws UserError if there is none */
  async remote(root: string): Promise<string | null> {
    const [url = ''] = (await this.#git({ root, words: ['config', '--get', 'remote.origin.url'] })).split('\n')
    return url === '' ? null : url
  }

  /** Kills git. Further calls fail. */
  close(): void {
    this.#stop.abort()
  }

  /** One git runs at a time. Further calls wait. */
  #git(call: GitCall): Promise<string> {
    const world = { env: this.#env, stop: this.#stop.signal, withinMs: this.#withinMs }
    const answer = this.#last.then(() => runGit(call, world))
    this.#last = answer.catch(() => undefined)
    return answer
  }
}

/** Ensures that only hex digits reach git as the name of a commit. */
function checked(sha: string): string {
  if (!/^[\da-f]{4,64}$/.test(sha)) throw new Error('not the sha of a commit')
  return sha
}

const inputOf = (commits: readonly Commit[]): string => commits.map(({ sha }) => `${checked(sha)}\n`).join('')

function toCommits(output: string): Commit[] {
  const fields = output.split('\0')
  return Array.from({ length: Math.floor(fields.length / FIELDS) }, (_, index) => {
    const of = fields.slice(index * FIELDS, (index + 1) * FIELDS)
    const [sha = '', parents = '', authoredAt = '', committedAt = '', author = '', decoration = '', subject = ''] = of
    return {
      sha,
      parents: parents.split(' ').filter((parent) => parent !== ''),
      authoredAtMs: readSeconds(authoredAt),
      committedAtMs: readSeconds(committedAt),
      author: shortened(author),
      subject: shortened(subject),
      isCutOff: decoration === 'grafted',
    }
  })
}

/** A JavaScript date is limited to 8.64e15 ms. Commits can be made by hand and contain any number. */
function readSeconds(text: string): number | null {
  const ms = /^-?\d{1,13}$/.test(text) ? Number(text) * 1000 : Number.NaN
  return Math.abs(ms) <= 8.64e15 ? ms : null
}

const shortened = (text: string): string =>
  text.length <= SUBJECT_LENGTH_MAX ? text : `${text.slice(0, SUBJECT_LENGTH_MAX - 1).toWellFormed()}…`

/** The output has a sha for each commit, then a status and a path for each file, or two paths for a rename or copy. */
function toTouched(output: string, commits: readonly Commit[]): ReadonlyMap<string, TouchedFiles> {
  // Git does not print commits without changes.
  const touched = new Map(commits.map(({ sha }) => [sha, { names: new Set<string>(), count: 0 }]))
  let current = { names: new Set<string>(), count: 0 }
  const tokens = output.split('\0').values()
  for (const token of tokens) {
    const next = touched.get(token)
    if (next !== undefined) current = next
    else if (token !== '') {
      const names = Array.from({ length: /^[RC]\d/.test(token) ? 2 : 1 }, () => String(tokens.next().value))
      // A copy does not change its origin.
      const changed = token.startsWith('C') ? names.slice(1) : names
      if (current.count < FILES_MAX) for (const name of changed) current.names.add(name)
      current.count += 1
    }
  }
  return touched
}
