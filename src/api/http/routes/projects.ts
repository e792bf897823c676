import * as z from 'zod/mini'
import * as params from '../params.ts'
import { isAbsolute } from 'node:path'
import { asProjectId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { type Chat, commitsAnswer } from '../../answers/chats.ts'
import {
  type MergeAnswer,
  fileHistoryAnswer,
  filesAnswer,
  mergeAnswer,
  project as projectAnswer,
  projectsAnswer,
} from '../../answers/projects.ts'
import { type Stats, statsAnswer } from '../../answers/stats.ts'
import type { ApiContext } from '../../context.ts'
import { bucketUnits } from '../../periods.ts'
import {
  type OwnedProject,
  folderOf,
  getProject,
  isWithin,
  listOwned,
  listProjectRoots,
  listProjects,
  readNamedProjects,
  resolveProjects,
} from '../../queries/projects.ts'
import { type CommitMatch, chatsOfCommit, reportCommits } from '../../queries/commits.ts'
import { Problem, badParameters, notFound } from '../problem.ts'
import { type Api, get, post } from '../route.ts'
import type { Context } from 'hono'
import { importAnswer, tokensAnswer } from '../../answers/tokens.ts'
import { type TokenGrouping, isOfTime, tokenGroupings } from '../../queries/tokens.ts'

const NAME = 'must be the name, path or id of a project'
const projectName = z.string(NAME).check(z.minLength(1, NAME))
/** Undone, it needs no new one. */
const mergeBody = z.object({ old: projectName, new: z.optional(projectName), undo: params.bodyFlag(false) })

const ofProject = params.parametersOf({ ...params.dates, bucket: params.oneOf(bucketUnits), machine: params.words() })

/** How many rows are returned by default. */
const ROWS_DEFAULT = 1000

export const projectRoutes = [
  get('/api/projects', {
    says: 'Projects, the last active first.',
    query: params.parametersOf(params.page),
    answer: projectsAnswer,
    handle: ({ query }, api) => listProjects(api.mirror(), query),
  }),
  get('/api/projects/:id', {
    says: 'One project.',
    answer: projectAnswer,
    handle: ({ id }, api) => known(api, id),
  }),
  post('/api/merges', {
    says: 'Lets the chats of a project belong to another one, now and later: {"old", "new", "undo"}.',
    body: mergeBody,
    answer: mergeAnswer,
    handle: ({ body }, api) => answerMerge(body, api),
  }),
  get('/api/commits', {
    says: 'Commits, and the chats that may have led to them: repo, from, to.',
    query: params.parametersOf({ repo: params.word(), ...params.dates, ...params.page }),
    answer: commitsAnswer,
    problems: [409],
    handle: ({ query: { repo, tz, limit, offset, ...period } }, api) => {
      const bounds = params.readBounds(period, params.readClock(tz, api))
      return reportCommits(api, { folder: readFolder(api, repo), ...bounds, limit, offset })
    },
  }),
  get('/api/stats', {
    says: 'Statistics by day, project, model, tool, hour: project, from, to, bucket=day|week|month, tz.',
    query: params.parametersOf({ ...ofProject.shape, project: params.words() }),
    answer: statsAnswer,
    handle: ({ query }, api) => askStats(api, query, query.project),
  }),
  get('/api/projects/:id/stats', {
    says: 'The same for one project.',
    query: ofProject,
    answer: statsAnswer,
    handle: ({ id, query }, api) => askStats(api, query, [known(api, id).id]),
  }),
  get('/api/files', {
    says: 'Files that chats edited or read, the last edited first: q is a part of the path.',
    query: params.parametersOf({ q: params.text(), project: params.words(), ...params.page }),
    answer: filesAnswer,
    handle: ({ query: { project, ...query } }, api) =>
      api.ask({ kind: 'files', request: { ...query, projectNums: numsOf(api, project) } }),
  }),
  get('/api/files/history', {
    says: 'The edits of one file, the newest first, each with its chat, its lines and its commits: project, path.',
    query: params.parametersOf({ project: params.word(), path: params.word(), ...params.page }),
    answer: fileHistoryAnswer,
    handle: async ({ query: { project, path, ...query } }, api) => {
      if (path === null) throw badParameters([{ name: 'path', reason: 'must be the path of a file' }])
      const projectNums = numsOf(api, project === null ? null : [project])
      const edits = await api.ask({ kind: 'edits', request: { ...query, path, projectNums } })
      const commits = project === null ? null : await commitsOfEdits(api, project, path, edits.items)
      const [num, ...others] = projectNums ?? []
      const ref = num === undefined || others.length > 0 ? null : (readNamedProjects(api.mirror()).get(num) ?? null)
      const items = edits.items.map((edit) => ({ ...edit, commits: commits?.(edit) ?? null }))
      return { ...edits, items, path, project: ref }
    },
  }),
  get('/api/tokens', {
    says: 'Token counts by source: groupBy=day|week|month|project|model|chat or several, project, model, from, to, tz.',
    query: params.parametersOf({
      groupBy: params.listOf(tokenGroupings),
      project: params.words(),
      model: params.words(),
      machine: params.words(),
      ...params.dates,
      limit: params.wholeNumber({ min: 1, max: 10_000 }),
    }),
    answer: tokensAnswer,
    handle: ({ query }, api) => {
      const request = {
        groupBy: readGroupings(query.groupBy ?? ['day']),
        ...params.readScope(query, api),
        models: query.model,
        limit: query.limit ?? ROWS_DEFAULT,
      }
      return api.ask({ kind: 'tokens', request })
    },
  }),
  post('/api/tokens/import', {
    says: 'Imports a usage file from Cursor’s dashboard, sent as text/csv.',
    bodyType: 'text/csv',
    answer: importAnswer,
    handle: async ({ c }, api) => {
      const text = await readCsvBody(c)
      return api.importUsage(text)
    },
  }),
]

const refused = (name: 'old' | 'new', reason: string): Problem => badParameters([{ name, reason }], 'bad-body')

/** The project that a key of the body names. @throws Problem 400 unless it is the only one */
function theOnly(api: Api, name: 'old' | 'new', given: string, isWanted: (each: OwnedProject) => boolean) {
  const db = api.mirror()
  const named = listOwned(db, resolveProjects(db, [given]))
  const [first, ...others] = named.filter(isWanted)
  if (first !== undefined && others.length === 0) return first
  const listed = named.map(({ path, owner }) => (owner === null ? path : `${path}, which belongs to ${owner.path}`))
  if (named.length === 0) throw refused(name, `names no project: ${given}. List them with: cursordex projects`)
  throw refused(name, `must name one project of its own, or for undo one that was merged. It fits ${listed.join('; ')}`)
}

const isOwn = ({ owner }: OwnedProject): boolean => owner === null

/** @throws Problem 400 unless each name fits one project */
async function answerMerge(body: z.output<typeof mergeBody>, api: Api): Promise<MergeAnswer> {
  if (body.undo) {
    const old = theOnly(api, 'old', body.old, ({ how }) => how === 'merged')
    if (old.owner === null) throw new Error('a merged project has no owner')
    return { old, new: old.owner, ...(await api.mergeProjects({ uri: old.uri, target: null })) }
  }
  if (body.new === undefined) throw refused('new', NAME)
  const [old, target] = [theOnly(api, 'old', body.old, isOwn), theOnly(api, 'new', body.new, isOwn)]
  if (old.uri === target.uri) throw refused('new', `is the same project as "old": ${old.path}`)
  return { old, new: target, ...(await api.mergeProjects({ uri: old.uri, target: target.uri })) }
}

function known(api: Api, id: string) {
  const found = getProject(api.mirror(), asProjectId(id))
  if (found === null) throw notFound('project', id)
  return found
}

function askStats(
  api: Api,
  query: params.Params<typeof ofProject>,
  projects: readonly string[] | null,
): Promise<Stats> {
  const scope = params.readScope({ ...query, project: projects }, api)
  return api.ask({ kind: 'stats', request: { ...scope, bucket: query.bucket ?? 'day' } })
}

const numsOf = (api: Api, names: readonly string[] | null): readonly number[] | null =>
  names === null ? null : resolveProjects(api.mirror(), names)

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
  const detail = 'No commit of this repository has this sha or name, or several commits begin with it.'
  throw new Problem(404, 'commit-not-found', detail)
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
    const names = here.slice(0, LISTED_MAX).map(({ name, path }) => `${name} (${path})`)
    const listed = here.length === 0 ? 'there is none here' : `some are ${names.join(', ')}`
    throw badParameters([{ name: 'repo', reason: `must name a known project: ${listed}` }])
  }
  if (found.isHere === 1) return folderOf(found.path)
  throw new Problem(409, 'repo-missing', `The folder of ${found.name} is not on this machine, and git runs only here.`)
}

/** A unit of time comes first, because the rows are in the order of time. */
function readGroupings(given: readonly TokenGrouping[]): readonly TokenGrouping[] {
  const [times, others] = [given.filter(isOfTime), given.filter((each) => !isOfTime(each))]
  if (times.length <= 1 && new Set(others).size === others.length) return [...times, ...others]
  throw badParameters([{ name: 'groupBy', reason: 'must have at most one of day, week and month, and no name twice' }])
}

/** @throws Problem 415 for another media type, which a foreign page could send without a preflight; 400 if not UTF-8 */
async function readCsvBody(c: Context): Promise<string> {
  // Read the body first, so that nothing of it stays on the connection after a refusal.
  const bytes = new Uint8Array(await c.req.arrayBuffer())
  if (!/^(?:text|application)\/csv\s*(?:;|$)/iu.test(c.req.header('content-type') ?? '')) {
    throw new Problem(415, 'not-csv', 'The body must be sent as text/csv.')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Problem(400, 'bad-encoding', 'The body is not UTF-8. Send the file as it was downloaded.')
  }
}
