import { Hono } from 'hono'
import { UserError } from '../../../model/user-error.ts'
import { readClock } from '../dates.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { badParameters, notFound, Problem } from '../problem.ts'
import type { ApiContext } from '../../context.ts'
import { archivesParameters, noBody, restoreBody, runBody } from '../route-parameters.ts'
import type { ArchiveRun } from '../../answers/archives.ts'

export function archiveRoutes(context: ApiContext): Hono {
  const { archives } = context
  const known = (name: string): ArchiveRun => {
    const run = archives.list().find((each) => name === 'newest' || each.name === name)
    if (run === undefined) throw notFound('archive', name)
    return run
  }
  return new Hono()
    .post('/api/archives', async (c) => {
      readQuery(c, noParameters)
      const { scope, tz } = await readBody(c, runBody)
      return c.json(archives.run(scope, readClock(tz ?? null, context).timeZone).run, 202)
    })
    .get('/api/archives', (c) => {
      const { limit: most, offset: start } = readQuery(c, archivesParameters)
      const all = archives.list()
      return c.json({ items: all.slice(start, start + most), total: all.length, limit: most, offset: start })
    })
    .get('/api/archives/:name', (c) => {
      readQuery(c, noParameters)
      return c.json(known(c.req.param('name')))
    })
    .post('/api/archives/:name/verify', async (c) => {
      readQuery(c, noParameters)
      await readBody(c, noBody)
      const { name } = known(c.req.param('name'))
      return c.json(await archives.verify(name).catch(asAnswer))
    })
    .post('/api/archives/:name/restore', async (c) => {
      readQuery(c, noParameters)
      const { from, map } = await readBody(c, restoreBody)
      const name = c.req.param('name')
      if (from === null && name !== 'newest') known(name)
      return c.json(await archives.restore({ name, from, map }).catch(asAnswer))
    })
}

/** @throws Problem with the status of what the client can change; any other error as it is */
function asAnswer(error: unknown): never {
  if (!(error instanceof UserError)) throw error
  const { code, message, hint } = error
  if (code === 'archive-busy') throw new Problem(429, code, `${message} ${hint}`)
  if (code === 'archive-not-found') throw new Problem(404, code, `${message} ${hint}`)
  if (code !== 'bad-map') throw error
  throw badParameters([{ name: 'map', reason: `is wrong: ${message} ${hint.replace(/\.$/, '')}` }], 'bad-body')
}
