import { asProjectId } from '../../../model/ids.ts'
import { commitsAnswer } from '../../answers/chats.ts'
import { project, projectsAnswer } from '../../answers/projects.ts'
import { statsAnswer, type Stats } from '../../answers/stats.ts'
import { bucketUnits } from '../../periods.ts'
import { getProject, listProjects } from '../../queries/projects/list-projects.ts'
import { answerCommits } from './commits.ts'
import { readBounds, readClock, scopeOf } from '../dates.ts'
import { dates, oneOf, page, parametersOf, word, words, type Params } from '../params.ts'
import { badParameters, notFound } from '../problem.ts'
import { route, type Api } from '../route.ts'

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
