import * as z from 'zod/mini'
import { asProjectId } from '../../../model/ids.ts'
import { commitsAnswer } from '../../answers/commits.ts'
import { mergeAnswer, project, projectsAnswer, type MergeAnswer } from '../../answers/projects.ts'
import { statsAnswer, type Stats } from '../../answers/stats.ts'
import { bucketUnits } from '../../buckets.ts'
import { getProject, listProjects, resolveProjects } from '../../queries/projects/list-projects.ts'
import { listOwned, type OwnedProject } from '../../queries/projects/project-roots.ts'
import { answerCommits } from './commits.ts'
import { readBounds, readClock, scopeOf } from '../dates.ts'
import { bodyFlag, dates, oneOf, page, parametersOf, word, words, type Params } from '../params.ts'
import { badParameters, notFound, Problem } from '../problem.ts'
import { route, type Api } from '../route.ts'

const NAME = 'must be the name, path or id of a project'
const projectName = z.string(NAME).check(z.minLength(1, NAME))
/** Undone, it needs no new one. */
const mergeBody = z.object({ old: projectName, new: z.optional(projectName), undo: bodyFlag(false) })

const ofProject = parametersOf({ ...dates, bucket: oneOf(bucketUnits), machine: words() })

export const projectRoutes = [
  route({
    method: 'GET',
    path: '/api/projects',
    says: 'Projects, the last active first.',
    query: parametersOf(page),
    answer: projectsAnswer,
    handle: ({ query }, api) => listProjects(api.mirror(), query),
  }),
  route({
    method: 'GET',
    path: '/api/projects/:id',
    says: 'One project.',
    answer: project,
    problems: [404],
    handle: ({ id }, api) => known(api, id),
  }),
  route({
    method: 'POST',
    path: '/api/merges',
    says: 'Lets the chats of a project belong to another one, now and later: {"old", "new", "undo"}.',
    body: mergeBody,
    answer: mergeAnswer,
    handle: ({ body }, api) => answerMerge(body, api),
  }),
  route({
    method: 'GET',
    path: '/api/commits',
    says: 'Commits, and the chats that may have led to them: repo, from, to.',
    query: parametersOf({ repo: word(), ...dates, ...page }),
    answer: commitsAnswer,
    problems: [409],
    handle: ({ query }, api) => answerCommits(query, api),
  }),
  route({
    method: 'GET',
    path: '/api/stats',
    says: 'Statistics by day, project, model, tool, hour: project, from, to, bucket=day|week|month, tz.',
    query: parametersOf({ ...ofProject.shape, project: words() }),
    answer: statsAnswer,
    handle: ({ query }, api) => askStats(api, query, query.project),
  }),
  route({
    method: 'GET',
    path: '/api/projects/:id/stats',
    says: 'The same for one project.',
    query: ofProject,
    answer: statsAnswer,
    problems: [404],
    handle: ({ id, query }, api) => askStats(api, query, [known(api, id).id]),
  }),
]

const refused = (name: 'old' | 'new', reason: string): Problem => badParameters([{ name, reason }], 'bad-body')

/** @param nothing the reason if none was found */
function theOnly(name: 'old' | 'new', found: readonly OwnedProject[], nothing: () => string): OwnedProject {
  const [first, ...others] = found
  if (first === undefined) throw refused(name, nothing())
  if (others.length === 0) return first
  throw refused(name, `fits ${found.length} projects. Give a path: ${found.map(({ path }) => path).join(', ')}`)
}

/** @throws Problem 400 unless each name fits one project */
async function answerMerge(body: z.output<typeof mergeBody>, api: Api): Promise<MergeAnswer> {
  if (api.mergeProjects === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
  const db = api.mirror()
  const named = (given: string): readonly OwnedProject[] => listOwned(db, resolveProjects(db, [given]))
  if (body.undo) {
    const merged = named(body.old).filter(({ how }) => how === 'merged')
    const old = theOnly('old', merged, () => {
      const all = listOwned(db, null).map(({ path, owner }) => `${path} into ${owner?.path ?? ''}`)
      return `names no such merge: ${body.old}. ${all.length === 0 ? 'Nothing is merged' : `Merged are ${all.join(', ')}`}`
    })
    if (old.owner === null) throw new Error('a merged project has no owner')
    return { old, new: old.owner, ...(await api.mergeProjects({ uri: old.uri, target: null })) }
  }
  const own = (name: 'old' | 'new', given: string): OwnedProject => {
    const found = named(given)
    const owner = found[0]?.owner ?? null
    return theOnly(
      name,
      found.filter((each) => each.owner === null),
      () =>
        owner === null
          ? `names no project: ${given}. List them with: cursordex projects`
          : `belongs to ${owner.path} already: name that one`,
    )
  }
  if (body.new === undefined) throw refused('new', NAME)
  const [old, target] = [own('old', body.old), own('new', body.new)]
  if (old.uri === target.uri) throw refused('new', `is the same project as "old": ${old.path}`)
  return { old, new: target, ...(await api.mergeProjects({ uri: old.uri, target: target.uri })) }
}

function known(api: Api, id: string) {
  const found = getProject(api.mirror(), asProjectId(id))
  if (found === null) throw notFound('project', id)
  return found
}

/** @throws Problem 400 if the series would have too many buckets */
async function askStats(api: Api, query: Params<typeof ofProject>, projects: readonly string[] | null): Promise<Stats> {
  const clock = readClock(query.tz, api)
  const request = {
    ...scopeOf(api.mirror(), { project: projects, machine: query.machine }),
    ...readBounds(query, clock),
    bucket: query.bucket ?? 'day',
    timeZone: clock.timeZone,
  }
  const answer = await api.ask({ kind: 'stats', request })
  if (answer.kind === 'stats') return answer.stats
  const reason = `gives ${answer.count} rows, but at most ${answer.max} are allowed: use week or month, or set from and to`
  throw badParameters([{ name: 'bucket', reason }])
}
