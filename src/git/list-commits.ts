import type { Commit, CommitList, Repository } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
import { HARMLESS_DIFF } from './harmless.ts'
import type { GitCall } from './run-git.ts'

export type ReadTokens = (call: GitCall) => AsyncGenerator<string, void>

/** Of a longer history, only the newest commits are read. */
const COMMITS_MAX = 50_000
const SUBJECT_LENGTH_MAX = 300
const FORMAT = '--format=tformat:%H%x00%P%x00%at%x00%ct%x00%an%x00%s'
const FIELDS = 6
const LOG = ['log', '-z', '--no-notes', '--no-decorate', '--encoding=UTF-8', '--no-show-signature', ...HARMLESS_DIFF]

export interface Stretch {
  /** Epoch milliseconds; older commits are left out. Null means the whole history. */
  readonly sinceMs: number | null
  /** Full sha of an additional start commit, which may be on no branch. */
  readonly alsoFrom: string | null
}

/**
 * The commits of all local branches and of the checked-out commit, newest first. Git's own date filter is not used: it
 * stops at the first older commit, so one wrong clock would hide all commits before it.
 * @throws UserError as `gitTokens` does
 */
export async function listCommits(
  repository: Repository,
  stretch: Stretch,
  readTokens: ReadTokens,
): Promise<CommitList> {
  const { root, head, prefix, topLevel } = repository
  const tips = [head, stretch.alsoFrom].flatMap((sha) => (sha === null ? [] : [checked(sha)]))
  const walk = [...LOG, `--max-count=${COMMITS_MAX + 1}`, FORMAT, '--branches', '--end-of-options', ...tips, '--']
  const { commits, isWhole } = await readStretch(readTokens({ root, arguments: walk }), stretch.sinceMs ?? -Infinity)
  // Pathspecs are relative to the folder of the call, and this one is relative to the top.
  const within = prefix === '' ? null : await listWithin({ topLevel, prefix }, commits, readTokens)
  return { commits, within, isWhole }
}

const isMerge = ({ parents }: Commit): boolean => parents.length > 1

/** Commits that changed something below the prefix. A merge counts only if its content there differs from all its parents. */
async function listWithin(
  { topLevel, prefix }: Pick<Repository, 'topLevel' | 'prefix'>,
  commits: readonly Commit[],
  readTokens: ReadTokens,
): Promise<Set<string>> {
  const within = new Set<string>()
  const words = ['diff-tree', '--stdin', '-r', '-z', '--root', '--no-renames', ...HARMLESS_DIFF]
  const compare = async (some: readonly Commit[], how: readonly string[], take: (token: string) => void) => {
    if (some.length === 0) return
    const input = some.map(({ sha }) => `${checked(sha)}\n`).join('')
    const tokens = readTokens({ root: topLevel, arguments: [...words, ...how, '--', prefix], input })
    for await (const token of tokens) take(token)
  }
  await compare(
    commits.filter((commit) => !isMerge(commit)),
    ['-s'],
    (sha) => within.add(sha),
  )
  // Git prints every merge. It made changes of its own only if files are printed after it.
  const merges = commits.filter(isMerge)
  const shas = new Set(merges.map(({ sha }) => sha))
  let last = ''
  await compare(merges, ['-c', '--name-only'], (token) => {
    if (shas.has(token)) last = token
    else within.add(last)
  })
  return within
}

/**
 * Skips older commits, up to the limit. Git always continues with the newest known commit. So if the last commit is too old,
 * the unread ones are too, unless all clocks were wrong.
 */
async function readStretch(
  tokens: AsyncGenerator<string, void>,
  sinceMs: number,
): Promise<Pick<CommitList, 'commits' | 'isWhole'>> {
  const commits: Commit[] = []
  let read = 0
  for await (const commit of readCommits(tokens)) {
    const isWanted = (commit.committedAtMs ?? Infinity) >= sinceMs
    read += 1
    if (read > COMMITS_MAX) return { commits, isWhole: !isWanted }
    if (isWanted) commits.push(commit)
  }
  return { commits, isWhole: true }
}

/**
 * The commit whose sha begins with these hex digits; null if there is none or more than one.
 * @throws UserError as `gitTokens` does
 */
export async function findCommit(root: string, digits: string, readTokens: ReadTokens): Promise<Commit | null> {
  const name = `${checked(digits)}^{commit}`
  const [sha] = await quietly(
    readTokens({ root, arguments: ['rev-parse', '--verify', '--quiet', '--end-of-options', name] }),
  )
  if (sha === undefined) return null
  const walk = [...LOG, '--no-walk', '--max-count=1', FORMAT, '--end-of-options', checked(sha.trim()), '--']
  for await (const commit of readCommits(readTokens({ root, arguments: walk }))) return commit
  return null
}

/** Git fails if there is no such commit, or more than one. */
async function quietly(tokens: AsyncGenerator<string, void>): Promise<string[]> {
  try {
    const all: string[] = []
    for await (const token of tokens) all.push(token)
    return all
  } catch (error) {
    if (error instanceof UserError && ['git-silent', 'git-failed'].includes(error.code)) return []
    throw error
  }
}

/** Ensures that only hex digits reach git as the name of a commit. */
export function checked(sha: string): string {
  if (!/^[\da-f]{4,64}$/.test(sha)) throw new Error('not the sha of a commit')
  return sha
}

async function* readCommits(tokens: AsyncGenerator<string, void>): AsyncGenerator<Commit, void> {
  let fields: string[] = []
  for await (const token of tokens) {
    fields.push(token)
    if (fields.length < FIELDS) continue
    yield toCommit(fields)
    fields = []
  }
}

function toCommit([
  sha = '',
  parents = '',
  authoredAt = '',
  committedAt = '',
  author = '',
  subject = '',
]: string[]): Commit {
  return {
    sha,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    authoredAtMs: readSeconds(authoredAt),
    committedAtMs: readSeconds(committedAt),
    author: shortened(author),
    subject: shortened(subject),
  }
}

/** A JavaScript date is limited to 8.64e15 ms. Commits can be made by hand and contain any number. */
function readSeconds(text: string): number | null {
  const ms = /^-?\d{1,13}$/.test(text) ? Number(text) * 1000 : Number.NaN
  return Math.abs(ms) <= 8.64e15 ? ms : null
}

const shortened = (text: string): string =>
  text.length <= SUBJECT_LENGTH_MAX ? text : `${text.slice(0, SUBJECT_LENGTH_MAX - 1).toWellFormed()}…`
