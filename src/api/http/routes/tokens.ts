import type { Context } from 'hono'
import { importAnswer, tokensAnswer } from '../../answers/tokens.ts'
import { ledgerCsv, isOfTime, tokenGroupings, type TokenGrouping, type TokensRequest } from '../../tokens/ledger.ts'
import {
  readBounds,
  readClock,
  scopeOf,
  dates,
  flag,
  listOf,
  oneOf,
  parametersOf,
  wholeNumber,
  word,
  words,
} from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import { route } from '../route.ts'

/** How many rows are returned by default. CSV has all: a program that reads the file would not notice missing rows. */
const ROWS_DEFAULT = { json: 1000, csv: Number.MAX_SAFE_INTEGER }

export const tokenRoutes = [
  route({
    method: 'GET',
    path: '/api/tokens',
    says: 'Token counts by source: groupBy=day|week|month|project|model|chat or several, project, model, from, to, tz, as=json|csv.',
    query: parametersOf({
      groupBy: listOf(tokenGroupings),
      project: words(),
      model: words(),
      machine: words(),
      ...dates,
      prices: flag(),
      as: oneOf(['json', 'csv']),
      limit: wholeNumber({ min: 1, max: 10_000 }),
    }),
    answer: tokensAnswer,
    alsoAs: ['text/csv'],
    handle: async ({ query, c }, api) => {
      const clock = readClock(query.tz, api)
      const format = query.as ?? 'json'
      const request: TokensRequest = {
        groupBy: readGroupings(query.groupBy ?? ['day']),
        ...scopeOf(api.mirror(), query),
        models: query.model,
        timeZone: clock.timeZone,
        ...readBounds(query, clock),
        limit: query.limit ?? ROWS_DEFAULT[format],
        hasPrices: query.prices ?? true,
      }
      const answer = await api.ask({ kind: 'tokens', request })
      if (format === 'json') return answer
      c.header('content-type', 'text/csv; charset=utf-8; header=present')
      c.header('content-disposition', `attachment; filename="tokens-by-${request.groupBy.join('-and-')}.csv"`)
      c.header('x-rows-total', String(answer.rowsTotal))
      return c.body(ledgerCsv(answer, request.groupBy))
    },
  }),
  route({
    method: 'POST',
    path: '/api/tokens/import',
    says: 'Imports a usage file from Cursor’s dashboard, sent as text/csv.',
    query: parametersOf({ tz: word() }),
    bodyType: 'text/csv',
    answer: importAnswer,
    handle: async ({ query, c }, api) => {
      const { timeZone } = readClock(query.tz, api)
      const text = await readCsvBody(c)
      if (api.importUsage === undefined) throw new Problem(503, 'not-here', 'This process cannot import usage files.')
      return api.importUsage({ text, timeZone })
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
