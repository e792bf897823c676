import { Hono } from 'hono'
import { reportCommits } from '../../reports/commit-report.ts'
import { WINDOW_DEFAULT_MS } from '../../reports/match-commits.ts'
import { readBounds, readClock } from '../dates.ts'
import { readQuery } from '../params.ts'
import { readRepos } from '../read-repos.ts'
import type { ApiContext } from '../api-context.ts'
import { commitsParameters } from '../route-parameters.ts'

const MINUTE_MS = 60_000

export function commitRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/commits', async (c) => {
    const query = readQuery(c, commitsParameters)
    const { fromMs, toMs } = readBounds(query, readClock(query.tz, context))
    const { repositories, warnings } = await readRepos(context, query.repo)
    const report = await reportCommits(context.mirror(), context.histories, repositories, {
      fromMs,
      toMs,
      windowMs: query.window === null ? WINDOW_DEFAULT_MS : query.window * MINUTE_MS,
      chatId: query.chat,
      least: query.confidence ?? 'low',
      limit: query.limit,
      offset: query.offset,
    })
    return c.json({ ...report, warnings: [...warnings, ...report.warnings] })
  })
}
