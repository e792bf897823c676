import type { Context } from 'hono'
import { importAnswer, tokensAnswer } from '../../answers/tokens.ts'
import { isOfTime, tokenGroupings, type TokenGrouping } from '../../tokens/ledger.ts'
import { readBounds, readClock, scopeOf, dates, listOf, parametersOf, wholeNumber, words } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import { get, post } from '../route.ts'

/** How many rows are returned by default. */
const ROWS_DEFAULT = 1000

export const tokenRoutes = [
  get('/api/tokens', {
    says: 'Token counts by source: groupBy=day|week|month|project|model|chat or several, project, model, from, to, tz.',
    query: parametersOf({
      groupBy: listOf(tokenGroupings),
      project: words(),
      model: words(),
      machine: words(),
      ...dates,
      limit: wholeNumber({ min: 1, max: 10_000 }),
    }),
    answer: tokensAnswer,
    handle: ({ query }, api) => {
      const clock = readClock(query.tz, api)
      const request = {
        groupBy: readGroupings(query.groupBy ?? ['day']),
        ...scopeOf(api.mirror(), query),
        models: query.model,
        timeZone: clock.timeZone,
        ...readBounds(query, clock),
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
