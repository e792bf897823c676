import * as z from 'zod/mini'
import { hubAnswer, hubPullAnswer, hubPushAnswer, type HubActs } from '../../answers/hub.ts'
import { bodyFlag, bodyWords } from '../params.ts'
import { Problem } from '../problem.ts'
import { route, type Api } from '../route.ts'

const projects = z._default(z.nullable(bodyWords), null)

export const hubRoutes = [
  route({
    method: 'GET',
    path: '/api/hub',
    says: 'The hub: machines, projects, sizes, the last push and pull.',
    answer: hubAnswer,
    handle: (_, api) => actsOf(api).state(),
  }),
  route({
    method: 'POST',
    path: '/api/hub/push',
    says: 'Sends chats to the hub: {"projects", "dryRun"}.',
    body: z.object({ projects, dryRun: bodyFlag(false) }),
    answer: hubPushAnswer,
    handle: ({ body }, api) => actsOf(api).push({ projects: body.projects, isDryRun: body.dryRun }),
  }),
  route({
    method: 'POST',
    path: '/api/hub/pull',
    says: 'Fetches chats of other machines from the hub: {"projects"}.',
    body: z.object({ projects }),
    answer: hubPullAnswer,
    handle: ({ body }, api) => actsOf(api).pull(body.projects),
  }),
]

function actsOf({ hub }: Api): HubActs {
  if (hub === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
  return hub
}
