import { isAbsolute } from 'node:path'
import { Hono } from 'hono'
import { UserError } from '../../../model/user-error.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import { listProjectRoots, type ProjectRoot } from '../../queries/projects/project-roots.ts'
import { chatsOfCommit, reportCommits } from '../../reports/commit-report.ts'
import type { CommitMatch } from '../../reports/match-commits.ts'
import { comparablePath, folderOf, isWithin } from '../../reports/repository-paths.ts'
import type { ApiContext } from '../api-context.ts'
import { readBounds, readClock } from '../dates.ts'
import { readQuery } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import { commitsParameters } from '../route-parameters.ts'
import type { Chat } from '../schemas/chats.ts'

export const commitRoutes = (context: ApiContext): Hono =>
  new Hono().get('/api/commits', async (c) => {
    const { repo, tz, confidence, limit, offset, ...dates } = readQuery(c, commitsParameters)
    const bounds = readBounds(dates, readClock(tz, context))
    const request = { root: readRoot(context, repo), ...bounds, least: confidence ?? 'low', limit, offset } as const
    return c.json(await reportCommits(context.mirror(), context.histories, request).catch(refuse))
  })

/**
 * The chats that match the parameters `commit` and `repo`; null if neither is given.
 * @throws Problem 400 if one is missing or is no sha; 404 if there is no such commit; 409 if there is no readable history
 */
export async function readMatches(
  context: ApiContext,
  { commit, repo }: { readonly commit: string | null; readonly repo: string | null },
): Promise<readonly CommitMatch[] | null> {
  if (commit === null && repo === null) return null
  if (commit === null) throw badParameters([{ name: 'commit', reason: 'must be given with "repo"' }])
  if (!/^[\da-f]{4,64}$/i.test(commit)) {
    throw badParameters([{ name: 'commit', reason: 'must be the sha of a commit, or at least its first 4 hex digits' }])
  }
  const root = readRoot(context, repo)
  const question = chatsOfCommit(context.mirror(), context.histories, root, commit.toLowerCase())
  const matches = await question.catch(refuse)
  if (matches !== null) return matches
  const text = 'No commit of this repository has this sha, or several commits begin with it.'
  throw new Problem(404, 'commit-not-found', text)
}

/** Adds to each chat why it matches the commit. */
export function withMatches(chats: readonly Chat[], matches: readonly CommitMatch[]) {
  const byId = new Map(matches.map((match) => [match.id, match]))
  return chats.map((chat) => {
    const { confidence, score, evidence } = byId.get(chat.id) ?? { confidence: null, score: null, evidence: null }
    return { ...chat, commit: { confidence, score, evidence } }
  })
}

/** Whether the files of a project are on this machine. */
const isHere = ({ remote, uri }: ProjectRoot): boolean => remote === null && uri.startsWith('file:///')

/** How many known projects an error message lists. */
const LISTED_MAX = 8

/**
 * The project that is named by its id, name or path, or by a folder in it. Git runs only in the roots of known projects:
 * any other path is refused before the file system is touched.
 */
function readRoot(context: ApiContext, repo: string | null): ProjectRoot {
  const roots = listProjectRoots(context.mirror())
  const here = roots.filter(isHere)
  const known = here.slice(0, LISTED_MAX).map(({ project, path }) => `${project.name} (${path})`)
  const listed = here.length === 0 ? 'there is none here' : `some are ${known.join(', ')}`
  if (repo === null) throw badParameters([{ name: 'repo', reason: `must name the repository: ${listed}` }])
  const nums = resolveProjects(context.mirror(), [repo])
  const named = roots.find(({ num }) => nums.includes(num))
  const found = named ?? (isAbsolute(repo) ? around(repo, here) : undefined)
  if (found === undefined) throw badParameters([{ name: 'repo', reason: `is no known project: ${listed}` }])
  if (isHere(found)) return found
  const { project, uri, remote } = found
  const where = remote === null ? uri : `${remote.kind} ${remote.host ?? ''}`.trim()
  const text = `The files of ${project.name} are not on this machine (${where}), and git runs only here.`
  throw new Problem(409, 'repo-remote', `${text} Run git on the machine that has the repository.`)
}

/** The innermost project that contains a folder. */
const around = (folder: string, roots: readonly ProjectRoot[]): ProjectRoot | undefined =>
  roots
    .filter(({ path }) => isWithin(comparablePath(folder, folder), comparablePath(folderOf(path), folderOf(path))))
    .sort((one, other) => other.path.length - one.path.length)[0]

/** A history that cannot be read is no fault of the question. */
function refuse(error: unknown): never {
  throw error instanceof UserError ? new Problem(409, error.code, `${error.message} ${error.hint}`) : error
}
