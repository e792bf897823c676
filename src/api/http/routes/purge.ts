import { Hono } from 'hono'
import type * as z from 'zod/mini'
import type { PurgeScope } from '../../../mirror/purge/scope.ts'
import { asChatId } from '../../../model/ids.ts'
import { listProjectRoots } from '../../queries/projects/project-roots.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import { readPeriod } from '../../periods.ts'
import { NO_DATE, readClock } from '../dates.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import type { ApiContext, PurgeActs } from '../../context.ts'
import { noBody, purgeBody } from '../route-parameters.ts'

type Body = z.output<typeof purgeBody>

export function purgeRoutes(context: ApiContext): Hono {
  return new Hono()
    .post('/api/purge', async (c) => {
      readQuery(c, noParameters)
      const given = await readBody(c, purgeBody)
      const scope = scopeOf(context, given)
      const acts = actsOf(context)
      if (acts.isBusy) throw new Problem(429, 'purge-busy', 'A purge is running already. Try again when it is done.')
      return c.json(await acts.purge(scope, given.dryRun))
    })
    .post('/api/purge/accept-lost-bars', async (c) => {
      readQuery(c, noParameters)
      await readBody(c, noBody)
      await actsOf(context).acceptLostBars()
      return c.json({ lostBars: 0 })
    })
}

function actsOf({ purging }: ApiContext): PurgeActs {
  if (purging === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
  return purging
}

function scopeOf(context: ApiContext, { chats, projects, before, tz, match }: Body): PurgeScope {
  if (chats === undefined && projects === undefined && before === undefined && match === undefined) {
    throw new Problem(400, 'bad-body', 'Nothing to remove is named: give chats, projects, before or match.')
  }
  const beforeMs = before === undefined ? null : readPeriod(before, readClock(tz ?? null, context))?.startMs
  if (beforeMs === undefined) throw badParameters([{ name: 'before', reason: NO_DATE }], 'bad-body')
  return {
    chatIds: chats?.map(asChatId) ?? null,
    projectUris: projects === undefined ? null : urisOf(context, projects),
    beforeMs,
    match: match ?? null,
  }
}

/** An unknown project is refused: otherwise its purge would remove nothing and seem to succeed. */
function urisOf(context: ApiContext, names: readonly string[]): string[] {
  const db = context.mirror()
  const unknown = names.filter((name) => resolveProjects(db, [name]).length === 0)
  if (unknown.length > 0) {
    const reasons = unknown.map((name) => ({ name: 'projects', reason: `names an unknown project: ${name}` }))
    throw badParameters(reasons, 'bad-body')
  }
  const nums = resolveProjects(db, names)
  return listProjectRoots(db).flatMap(({ num, uri }) => (nums.includes(num) ? [uri] : []))
}
