import type { Mirror } from '../../mirror/open.ts'
import type { UserError } from '../../model/user-error.ts'
import { listProjectRoots, type ProjectRoot } from '../queries/projects/project-roots.ts'
import { resolveProjects } from '../queries/projects/list-projects.ts'
import { isHere, openRepositories, type OpenedRepository } from '../reports/repositories.ts'
import { badParameters, Problem } from './problem.ts'
import type { ApiContext } from './api-context.ts'
import { chatsOfCommit } from '../reports/commit-report.ts'
import type { CommitMatch } from '../reports/judge-match.ts'
import { WINDOW_DEFAULT_MS } from '../reports/match-commits.ts'
import type { Chat } from './schemas/chats.ts'

export interface Repos {
  readonly repositories: readonly OpenedRepository[]
  /** Why some of the wanted projects are missing. */
  readonly warnings: readonly string[]
}

/** How many of the last active projects are used if no repository is named. */
const ACTIVE_MAX = 10
/** How many known projects an error message lists. */
const LISTED_MAX = 8

/**
 * Opens the named repositories, or those of the last active projects if none is named.
 * @throws Problem 400 for an unknown project; 409 if no named project has a readable history
 * @throws UserError if git is not installed
 */
export async function readRepos(context: ApiContext, names: readonly string[] | null): Promise<Repos> {
  const roots = listProjectRoots(context.mirror())
  const wanted = names === null ? roots.filter(isHere).slice(0, ACTIVE_MAX) : namedRoots(context.mirror(), roots, names)
  const { opened, troubles } = await openRepositories(wanted, context.histories)
  const isMissing = troubles.find(({ code }) => code === 'git-missing')
  if (isMissing !== undefined) throw isMissing
  const [trouble] = troubles
  if (names !== null && opened.length === 0 && trouble !== undefined) throw refusal(trouble)
  // If no project was named, it is normal that some have no repository.
  const reported = troubles.filter(({ code }) => names !== null || !['not-a-repository', 'repo-missing'].includes(code))
  return { repositories: opened, warnings: reported.map(({ message }) => message) }
}

const refusal = ({ code, message, hint }: UserError): Problem => new Problem(409, code, `${message} ${hint}`)

/** Git runs only in the roots of known projects. Any other path is refused before the file system is touched. */
function namedRoots(db: Mirror, roots: readonly ProjectRoot[], names: readonly string[]): ProjectRoot[] {
  const nums = names.map((name) => resolveProjects(db, [name]))
  if (nums.some((found) => found.length === 0)) {
    throw badParameters([{ name: 'repo', reason: `is not a known project: ${knownOnes(roots)}` }])
  }
  const wanted = new Set(nums.flat())
  return roots.filter(({ num }) => wanted.has(num))
}

function knownOnes(roots: readonly ProjectRoot[]): string {
  const here = roots.filter(isHere)
  if (here.length === 0) return 'no project is on this machine'
  const listed = here.slice(0, LISTED_MAX).map(({ project, path }) => `${project.name} (${path})`)
  const more = here.length > listed.length ? `, and ${here.length - listed.length} more` : ''
  return `the known ones are ${listed.join(', ')}${more}`
}

/**
 * The chats that match the parameters `commit` and `repo`; null if neither is given.
 * @throws Problem 400 if one is missing or is no sha; 404 if there is no such commit; and what `readRepos` throws
 */
export async function readMatches(
  context: ApiContext,
  { commit, repo }: { readonly commit: string | null; readonly repo: readonly string[] | null },
): Promise<readonly CommitMatch[] | null> {
  if (commit === null && repo === null) return null
  if (commit === null) throw badParameters([{ name: 'commit', reason: 'must be given with "repo"' }])
  if (!/^[\da-f]{4,64}$/i.test(commit)) {
    throw badParameters([{ name: 'commit', reason: 'must be the sha of a commit, or at least its first 4 hex digits' }])
  }
  if (repo === null) throw badParameters([{ name: 'repo', reason: 'must name the repository of the commit' }])
  const { repositories } = await readRepos(context, repo)
  const question = { digits: commit.toLowerCase(), windowMs: WINDOW_DEFAULT_MS }
  const matches = await chatsOfCommit(context.mirror(), context.histories, repositories, question)
  if (matches !== null) return matches
  throw new Problem(
    404,
    'commit-not-found',
    'No commit of this repository has this sha, or several commits begin with it.',
  )
}

/** Adds to each chat why it matches the commit. */
export function withMatches(chats: readonly Chat[], matches: readonly CommitMatch[]) {
  const byId = new Map(matches.map((match) => [match.id, match]))
  return chats.map((chat) => {
    const { confidence, score, evidence } = byId.get(chat.id) ?? { confidence: null, score: null, evidence: null }
    return { ...chat, commit: { confidence, score, evidence } }
  })
}
