import { isAbsolute } from 'node:path'
import { UserError } from '../../../model/user-error.ts'
import { folderOf, isWithin, listProjectRoots, resolveProjects } from '../../queries/projects/list-projects.ts'
import { chatsOfCommit, reportCommits, type CommitMatch } from '../../reports/commit-report.ts'
import type { ApiContext } from '../../context.ts'
import { readBounds, readClock } from '../dates.ts'
import { badParameters, Problem } from '../problem.ts'
import type { Chat } from '../../answers/chats.ts'

/** The commits of a repository. @throws Problem 400 or 409 if it is not known, or has no readable history */
export function answerCommits({ repo, tz, limit, offset, ...dates }: CommitsQuery, context: ApiContext) {
  const bounds = readBounds(dates, readClock(tz, context))
  const request = { folder: readFolder(context, repo), ...bounds, limit, offset }
  return reportCommits(context, request)
}

interface CommitsQuery {
  readonly repo: string | null
  readonly from: string | null
  readonly to: string | null
  readonly tz: string | null
  readonly limit: number
  readonly offset: number
}

/**
 * The chats that match the parameters `commit` and `repo`; null if neither is given.
 * @throws Problem 400 if one is missing or can name no commit; 404 if there is no such commit; 409 if there is no readable history
 */
export async function readMatches(
  context: ApiContext,
  { commit, repo }: { readonly commit: string | null; readonly repo: string | null },
): Promise<readonly CommitMatch[] | null> {
  if (commit === null && repo === null) return null
  if (commit === null) throw badParameters([{ name: 'commit', reason: 'must be given with "repo"' }])
  if (!/^[^-\p{Cc}][^\p{Cc}]{0,199}$/u.test(commit)) {
    const reason = 'must be a sha, at least its first 4 hex digits, or a name that git resolves, such as HEAD'
    throw badParameters([{ name: 'commit', reason }])
  }
  const matches = await chatsOfCommit(context, readFolder(context, repo), commit)
  if (matches !== null) return matches
  const text = 'No commit of this repository has this sha or name, or several commits begin with it.'
  throw new Problem(404, 'commit-not-found', text)
}

/**
 * By an edit of a file, the commits of its chat with that file that are not earlier. The first one has the edit, very likely.
 * @returns null if the project has no readable history here
 */
export async function commitsOfEdits(
  context: ApiContext,
  project: string,
  path: string,
  edits: readonly { readonly at: string | null }[],
): Promise<((edit: { readonly chatId: string; readonly at: string | null }) => readonly string[]) | null> {
  const times = edits.flatMap(({ at }) => (at === null ? [] : [Date.parse(at)]))
  try {
    const folder = readFolder(context, project)
    const request = { folder, fromMs: Math.min(...times), toMs: null, limit: COMMITS_MAX, offset: 0 }
    const { items } = await reportCommits(context, request)
    return ({ chatId, at }) =>
      items
        .filter(({ committedAt, chats }) => {
          const files = chats.find(({ id }) => id === chatId)?.evidence.files?.paths
          const isLater = at === null || committedAt === null || Date.parse(committedAt) + 999 >= Date.parse(at)
          return isLater && files?.some((name) => path === name || path.endsWith(`/${name}`)) === true
        })
        .map(({ sha }) => sha)
  } catch (error) {
    if (error instanceof Problem || error instanceof UserError) return null
    throw error
  }
}

/** More commits than one page of edits has are seldom of use, and matching takes time. */
const COMMITS_MAX = 200

/** Adds to each chat why it matches the commit. */
export function withMatches(chats: readonly Chat[], matches: readonly CommitMatch[]) {
  const byId = new Map(matches.map(({ id, confidence, evidence }) => [id, { confidence, evidence }]))
  return chats.map((chat) => ({ ...chat, commit: byId.get(chat.id) }))
}

/** How many known projects an error message lists. */
const LISTED_MAX = 8

/**
 * The folder of the project that is named by its id, name or path, or by a folder in it. Git runs only in folders of known
 * projects: any other path is refused before the file system is touched.
 */
function readFolder(context: ApiContext, repo: string | null): string {
  const roots = listProjectRoots(context.mirror())
  const here = roots.filter(({ isHere }) => isHere === 1)
  const nums = resolveProjects(context.mirror(), repo === null ? [] : [repo])
  // The innermost project that contains the folder.
  const [around] = here
    .filter(({ path }) => repo !== null && isAbsolute(repo) && isWithin(repo, folderOf(path)))
    .sort((one, other) => other.path.length - one.path.length)
  const found = roots.find(({ num }) => nums.includes(num)) ?? around
  if (found === undefined) {
    const known = here.slice(0, LISTED_MAX).map(({ name, path }) => `${name} (${path})`)
    const listed = here.length === 0 ? 'there is none here' : `some are ${known.join(', ')}`
    throw badParameters([{ name: 'repo', reason: `must name a known project: ${listed}` }])
  }
  if (found.isHere === 1) return folderOf(found.path)
  throw new Problem(409, 'repo-missing', `The folder of ${found.name} is not on this machine, and git runs only here.`)
}
