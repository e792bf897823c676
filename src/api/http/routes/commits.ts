import { Hono } from 'hono'
import { reportCommits } from '../../reports/commit-report.ts'
import { WINDOW_DEFAULT_MS } from '../../reports/attribute-edits.ts'
import { confidences } from '../../reports/judge-match.ts'
import { readBounds, readClock } from '../dates.ts'
import { limit, offset, oneOf, parametersOf, readQuery, wholeNumber, word, words } from '../params.ts'
import { readRepos } from '../read-repos.ts'
import type { ApiContext } from '../api-context.ts'

const MINUTE_MS = 60_000

const parameters = parametersOf({
  repo: words(),
  from: word(),
  to: word(),
  tz: word(),
  chat: word(),
  confidence: oneOf(confidences),
  window: wholeNumber({ min: 1, max: 1440 }),
  limit: limit(),
  offset: offset(),
})

export function commitRoutes(context: ApiContext): Hono {
  return new Hono().get('/api/commits', async (c) => {
    const query = readQuery(c, parameters)
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
