import type { Commit, CommitList, Repository } from '../model/commit.ts'
import { Trouble } from '../model/trouble.ts'
import { HARMLESS_DIFF } from './harmless.ts'
import type { GitCall } from './run-git.ts'

export type AskTokens = (call: GitCall) => AsyncGenerator<string, void>

/** A history beyond these is read from its newest end. */
const COMMITS_MAX = 50_000
const SUBJECT_LENGTH_MAX = 300
const FORMAT = '--format=tformat:%H%x00%P%x00%at%x00%ct%x00%an%x00%s'
const FIELDS = 6
const LOG = ['log', '-z', '--no-notes', '--no-decorate', '--encoding=UTF-8', '--no-show-signature', ...HARMLESS_DIFF]

export interface Stretch {
  /** Epoch milliseconds; older commits are left out. Null: the whole history. */
  readonly sinceMs: number | null
  /** A commit to begin at, too, where no branch leads to it; whole. */
  readonly alsoFrom: string | null
}

/**
 * The commits of all local branches and of what is checked out, newest first.
 * @throws Trouble as `gitTokens` does
 */
export async function listCommits(repository: Repository, stretch: Stretch, ask: AskTokens): Promise<CommitList> {
  const { root, head, prefix } = repository
  const tips = [head, stretch.alsoFrom].flatMap((sha) => (sha === null ? [] : [checked(sha)]))
  const since = stretch.sinceMs === null ? [] : [`--max-age=${Math.floor(stretch.sinceMs / 1000)}`]
  const walk = [...LOG, `--max-count=${COMMITS_MAX + 1}`, ...since]
  const from = ['--branches', '--end-of-options', ...tips, '--']
  const commits = await readCommits(ask({ root, arguments: [...walk, FORMAT, ...from] }))
  // Without --full-history git makes the walk short, and leaves out commits that were merged and undone.
  const below = [...walk, '--full-history', '--format=tformat:%H', ...from, prefix]
  // Pathspecs are from the folder that is asked about, and this one is from the top.
  const within = prefix === '' ? null : await readShas(ask({ root: repository.topLevel, arguments: below }))
  return { commits: commits.slice(0, COMMITS_MAX), within, isWhole: commits.length <= COMMITS_MAX }
}

/**
 * The commit that begins with these hex digits; null where none does, or more than one.
 * @throws Trouble as `gitTokens` does
 */
export async function findCommit(root: string, digits: string, ask: AskTokens): Promise<Commit | null> {
  const name = `${checked(digits)}^{commit}`
  const [sha] = await quietly(ask({ root, arguments: ['rev-parse', '--verify', '--quiet', '--end-of-options', name] }))
  if (sha === undefined) return null
  const walk = [...LOG, '--no-walk', '--max-count=1', FORMAT, '--end-of-options', checked(sha.trim()), '--']
  return (await readCommits(ask({ root, arguments: walk })))[0] ?? null
}

/** That there is none, or that there are several, git tells by failing. */
async function quietly(tokens: AsyncGenerator<string, void>): Promise<string[]> {
  try {
    const all: string[] = []
    for await (const token of tokens) all.push(token)
    return all
  } catch (error) {
    if (error instanceof Trouble && ['git-silent', 'git-failed'].includes(error.code)) return []
    throw error
  }
}

/** Whatever reaches git as a name of a commit is hex digits and nothing else. */
export function checked(sha: string): string {
  if (!/^[\da-f]{4,64}$/.test(sha)) throw new Error('no sha of a commit')
  return sha
}

async function readCommits(tokens: AsyncGenerator<string, void>): Promise<Commit[]> {
  const commits: Commit[] = []
  let fields: string[] = []
  for await (const token of tokens) {
    fields.push(token)
    if (fields.length < FIELDS) continue
    commits.push(toCommit(fields))
    fields = []
  }
  return commits
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

/** A calendar holds 8.64e12 seconds of a thousand milliseconds; commits can be made by hand, and claim anything. */
function readSeconds(text: string): number | null {
  const ms = /^-?\d{1,13}$/.test(text) ? Number(text) * 1000 : Number.NaN
  return Math.abs(ms) <= 8.64e15 ? ms : null
}

const shortened = (text: string): string =>
  text.length <= SUBJECT_LENGTH_MAX ? text : `${text.slice(0, SUBJECT_LENGTH_MAX - 1).toWellFormed()}…`

async function readShas(tokens: AsyncGenerator<string, void>): Promise<Set<string>> {
  const shas = new Set<string>()
  for await (const token of tokens) shas.add(token)
  return shas
}
