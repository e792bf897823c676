import type { Commit, CommitList, Repository } from '../model/commit.ts'
import { UserError } from '../model/user-error.ts'
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
 * The commits of all local branches and of what is checked out, newest first. Git is not asked for the recent ones alone:
 * at the first older one it would go no further, and a clock that was wrong once would hide all that came before.
 * @throws UserError as `gitTokens` does
 */
export async function listCommits(repository: Repository, stretch: Stretch, ask: AskTokens): Promise<CommitList> {
  const { root, head, prefix, topLevel } = repository
  const tips = [head, stretch.alsoFrom].flatMap((sha) => (sha === null ? [] : [checked(sha)]))
  const walk = [...LOG, `--max-count=${COMMITS_MAX + 1}`, FORMAT, '--branches', '--end-of-options', ...tips, '--']
  const { commits, isWhole } = await readStretch(ask({ root, arguments: walk }), stretch.sinceMs ?? -Infinity)
  // Pathspecs are from the folder that is asked about, and this one is from the top.
  const within = prefix === '' ? null : await listWithin({ topLevel, prefix }, commits, ask)
  return { commits, within, isWhole }
}

const isMerge = ({ parents }: Commit): boolean => parents.length > 1

/** Commits that changed something in one place: of merges, those that have it otherwise than each of their parents. */
async function listWithin(
  { topLevel, prefix }: Pick<Repository, 'topLevel' | 'prefix'>,
  commits: readonly Commit[],
  ask: AskTokens,
): Promise<Set<string>> {
  const within = new Set<string>()
  const words = ['diff-tree', '--stdin', '-r', '-z', '--root', '--no-renames', ...HARMLESS_DIFF]
  const compare = async (some: readonly Commit[], how: readonly string[], take: (token: string) => void) => {
    if (some.length === 0) return
    const input = some.map(({ sha }) => `${checked(sha)}\n`).join('')
    const said = ask({ root: topLevel, arguments: [...words, ...how, '--', prefix], input })
    for await (const token of said) take(token)
  }
  await compare(
    commits.filter((commit) => !isMerge(commit)),
    ['-s'],
    (sha) => within.add(sha),
  )
  // A merge is named whether or not it holds anything of its own: only what is named behind it tells.
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
 * What is older is passed over, as far as the bound goes. Git takes the newest first of all that it has before it: where
 * the last one is too old, what was not reached is, too, unless clocks were wrong all the way.
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
 * The commit that begins with these hex digits; null where none does, or more than one.
 * @throws UserError as `gitTokens` does
 */
export async function findCommit(root: string, digits: string, ask: AskTokens): Promise<Commit | null> {
  const name = `${checked(digits)}^{commit}`
  const [sha] = await quietly(ask({ root, arguments: ['rev-parse', '--verify', '--quiet', '--end-of-options', name] }))
  if (sha === undefined) return null
  const walk = [...LOG, '--no-walk', '--max-count=1', FORMAT, '--end-of-options', checked(sha.trim()), '--']
  for await (const commit of readCommits(ask({ root, arguments: walk }))) return commit
  return null
}

/** That there is none, or that there are several, git tells by failing. */
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

/** Whatever reaches git as a name of a commit is hex digits and nothing else. */
export function checked(sha: string): string {
  if (!/^[\da-f]{4,64}$/.test(sha)) throw new Error('no sha of a commit')
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

/** A calendar holds 8.64e12 seconds of a thousand milliseconds; commits can be made by hand, and claim anything. */
function readSeconds(text: string): number | null {
  const ms = /^-?\d{1,13}$/.test(text) ? Number(text) * 1000 : Number.NaN
  return Math.abs(ms) <= 8.64e15 ? ms : null
}

const shortened = (text: string): string =>
  text.length <= SUBJECT_LENGTH_MAX ? text : `${text.slice(0, SUBJECT_LENGTH_MAX - 1).toWellFormed()}…`
