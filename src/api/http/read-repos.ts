import type { Mirror } from '../../mirror/open.ts'
import type { UserError } from '../../model/user-error.ts'
import { listProjectRoots, type ProjectRoot } from '../queries/projects/project-roots.ts'
import { resolveProjects } from '../queries/projects/list-projects.ts'
import { openRepositories, type OpenedRepository } from '../reports/histories.ts'
import { badParameters, Problem } from './problem.ts'
import type { ApiContext } from './api-context.ts'
import type { Chat } from '../../model/chat.ts'
import { chatsOfCommit } from '../reports/commit-report.ts'
import { type CommitMatch, tellMatch } from '../reports/judge-match.ts'
import { WINDOW_DEFAULT_MS } from '../reports/attribute-edits.ts'

export interface Repos {
  readonly repositories: readonly OpenedRepository[]
  /** Why projects that were meant are not among them. */
  readonly warnings: readonly string[]
}

/** Where no repository is named, as many are looked into as a person is at work on. */
const ANY_MAX = 10
const TOLD_MAX = 8

/**
 * The repositories that are named, or of the last active projects where none is.
 * @throws Problem 400 for what is no project; 409 where none that is named has a history that can be read
 * @throws UserError where git is not installed
 */
export async function readRepos(world: ApiContext, names: readonly string[] | null): Promise<Repos> {
  const roots = listProjectRoots(world.mirror())
  const wanted = names === null ? roots.filter(isHere).slice(0, ANY_MAX) : namedRoots(world.mirror(), roots, names)
  const { opened, troubles } = await openRepositories(wanted, world.histories)
  const isMissing = troubles.find(({ code }) => code === 'git-missing')
  if (isMissing !== undefined) throw isMissing
  const [trouble] = troubles
  if (names !== null && opened.length === 0 && trouble !== undefined) throw refusal(trouble)
  // That a project is none is no news to who named none.
  const told = troubles.filter(({ code }) => names !== null || !['not-a-repository', 'repo-missing'].includes(code))
  return { repositories: opened, warnings: told.map(({ message }) => message) }
}

const isHere = ({ remote, uri }: ProjectRoot): boolean => remote === null && uri.startsWith('file:///')

const refusal = ({ code, message, hint }: UserError): Problem => new Problem(409, code, `${message} ${hint}`)

/** Git is called nowhere but in the roots of projects: a path that is none is refused before anything looks at it. */
function namedRoots(db: Mirror, roots: readonly ProjectRoot[], names: readonly string[]): ProjectRoot[] {
  const nums = names.map((name) => resolveProjects(db, [name]))
  if (nums.some((found) => found.length === 0)) {
    throw badParameters([{ name: 'repo', reason: `is no project that is known here: ${knownOnes(roots)}` }])
  }
  const wanted = new Set(nums.flat())
  return roots.filter(({ num }) => wanted.has(num))
}

function knownOnes(roots: readonly ProjectRoot[]): string {
  const here = roots.filter(isHere)
  if (here.length === 0) return 'there is none on this machine'
  const told = here.slice(0, TOLD_MAX).map(({ project, path }) => `${project.name} (${path})`)
  const more = here.length > told.length ? `, and ${here.length - told.length} more` : ''
  return `known are ${told.join(', ')}${more}`
}

/**
 * What `commit` and `repo` of a list of chats ask for; null where they are not given.
 * @throws Problem 400 where one is missing or is no sha, 404 where there is no such commit, and as `readRepos`
 */
export async function readMatches(
  world: ApiContext,
  { commit, repo }: { readonly commit: string | null; readonly repo: readonly string[] | null },
): Promise<readonly CommitMatch[] | null> {
  if (commit === null && repo === null) return null
  if (commit === null) throw badParameters([{ name: 'commit', reason: 'must be given with "repo"' }])
  if (!/^[\da-f]{4,64}$/i.test(commit)) {
    throw badParameters([{ name: 'commit', reason: 'must be the sha of a commit, or its first 4 hex digits or more' }])
  }
  if (repo === null) throw badParameters([{ name: 'repo', reason: 'must say in which repository the commit is' }])
  const { repositories } = await readRepos(world, repo)
  const question = { digits: commit.toLowerCase(), windowMs: WINDOW_DEFAULT_MS }
  const matches = await chatsOfCommit(world.mirror(), world.histories, repositories, question)
  if (matches !== null) return matches
  throw new Problem(404, 'commit-not-found', 'No commit of this repository has this sha, or several begin so.')
}

/** Each chat with why it is listed. */
export function withMatches(chats: readonly Chat[], matches: readonly CommitMatch[]) {
  const byId = new Map(matches.map((match) => [match.id, tellMatch(match)]))
  return chats.map((chat) => {
    const { confidence, score, evidence } = byId.get(chat.id) ?? { confidence: null, score: null, evidence: null }
    return { ...chat, commit: { confidence, score, evidence } }
  })
}
