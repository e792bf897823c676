import { Hono, type Context } from 'hono'
import { accepts } from 'hono/accepts'
import type { UnmatchedEvent } from '../../../mirror/usage/usage-events.ts'
import { UserError } from '../../../model/user-error.ts'
import { toIso } from '../../iso.ts'
import { ledgerCsv } from '../../tokens/ledger-csv.ts'
import { tokenGroupings, type TokensRequest } from '../../tokens/request.ts'
import { readBounds, readClock } from '../dates.ts'
import { flag, oneOf, parametersOf, readQuery, wholeNumber, word, words } from '../params.ts'
import { Problem } from '../problem.ts'
import type { ApiContext } from '../api-context.ts'

const parameters = parametersOf({
  groupBy: oneOf(tokenGroupings),
  project: words(),
  model: words(),
  from: word(),
  to: word(),
  tz: word(),
  prices: flag(),
  as: oneOf(['json', 'csv']),
  limit: wholeNumber({ min: 1, max: 10_000 }),
})

const importParameters = parametersOf({ tz: word() })

/** How many rows are told where nothing is said. A file is read by programs, which would not see that it ends early. */
const ROWS = { json: 1000, csv: Number.MAX_SAFE_INTEGER }

export function tokenRoutes(world: ApiContext): Hono {
  return new Hono()
    .get('/api/tokens', async (c) => {
      const query = readQuery(c, parameters)
      const clock = readClock(query.tz, world)
      const format = query.as ?? acceptedFormat(c)
      const request: TokensRequest = {
        groupBy: query.groupBy ?? 'day',
        projects: query.project,
        models: query.model,
        timeZone: clock.timeZone,
        ...readBounds(query, clock),
        limit: query.limit ?? ROWS[format],
        hasPrices: query.prices ?? true,
      }
      const answer = await world.ask({ kind: 'tokens', request })
      if (format === 'json') return c.json(answer)
      c.header('content-type', 'text/csv; charset=utf-8; header=present')
      c.header('content-disposition', `attachment; filename="tokens-by-${request.groupBy}.csv"`)
      c.header('x-rows-total', String(answer.rowsTotal))
      return c.body(ledgerCsv(answer))
    })
    .post('/api/tokens/import', async (c) => {
      const { timeZone } = readClock(readQuery(c, importParameters).tz, world)
      const text = await readCsvBody(c)
      if (world.importUsage === undefined) throw new Problem(503, 'not-here', 'Nothing can be imported here.')
      const { firstUnmatched, ...told } = await world.importUsage({ text, timeZone }).catch(blameFile)
      return c.json({ ...told, firstUnmatched: firstUnmatched.map(tellUnmatched) })
    })
}

const [JSON_TYPE, CSV_TYPE] = ['application/json', 'text/csv']

/** JSON, unless CSV is liked better. */
function acceptedFormat(c: Context): 'json' | 'csv' {
  const supports = [JSON_TYPE, CSV_TYPE]
  return accepts(c, { header: 'Accept', supports, default: JSON_TYPE }) === CSV_TYPE ? 'csv' : 'json'
}

/** Of a name that is longer, something else was meant. */
const TOLD_LENGTH_MAX = 200

const tellUnmatched = ({ line, atMs, model, reason }: UnmatchedEvent): object => ({
  line,
  at: toIso(atMs),
  model: model?.slice(0, TOLD_LENGTH_MAX) ?? null,
  reason,
})

/** @throws Problem 415 for another media type, which a foreign page could send unasked; 400 for what is no text */
async function readCsvBody(c: Context): Promise<string> {
  // First, so that nothing of it is left on the connection when it is refused.
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

/** What is wrong with a file is the sender's to mend. */
function blameFile(error: unknown): never {
  if (!(error instanceof UserError) || !/^bad-(?:csv|columns|cell)$/.test(error.code)) throw error
  throw new Problem(400, error.code, `${error.message} ${error.hint}`)
}
