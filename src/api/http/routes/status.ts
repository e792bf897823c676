import * as z from 'zod/mini'
import { healthAnswer } from '../../answers/common.ts'
import { readyAnswer, statusAnswer, syncAnswer } from '../../answers/status.ts'
import { Problem } from '../problem.ts'
import { bodyFlag } from '../params.ts'
import { route } from '../route.ts'

export const statusRoutes = [
  route({
    method: 'GET',
    path: '/api/health',
    says: 'Whether the daemon answers. Costs nothing.',
    answer: healthAnswer,
    // `startedAt` shows which daemon answers.
    handle: (_, { version, startedAt }) => ({
      status: 'ok' as const,
      version,
      ...(startedAt === undefined ? {} : { startedAt }),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/status',
    says: 'State, sources, counts and unreadable rows.',
    answer: statusAnswer,
    handle: (_, { readStatus }) => readStatus(),
  }),
  route({
    method: 'GET',
    path: '/api/ready',
    says: '200 if everything is searchable, else 503 with the reasons.',
    answer: readyAnswer,
    handle: (_, { readStatus }) => {
      const { state, reasons, progress } = readStatus()
      if (state === 'ready' || state === 'degraded') return { state, reasons }
      const done = progress === null ? '' : ` ${progress.done} of ${progress.total} ${progress.stage} steps are done.`
      throw new Problem(503, state, `The daemon is ${state}.${done} ${reasons.join(' ')}`.trim())
    },
  }),
  route({
    method: 'POST',
    path: '/api/sync',
    says: 'Runs a pass now; {"full": true} compares every value.',
    body: z.object({ full: bodyFlag(false) }),
    answer: syncAnswer,
    handle: ({ body: { full } }, api) => api.sync({ full }),
  }),
]
