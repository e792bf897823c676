import { Hono } from 'hono'
import type * as z from 'zod/mini'
import { countKinds } from '../../../mirror/purge/bars.ts'
import { type PurgeScope } from '../../../mirror/purge/scope.ts'
import { countLost, readUnfinished } from '../../../mirror/purge/stages.ts'
import { countBars, openBars } from '../../../mirror/purge/user-file.ts'
import { asChatId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { listProjectRoots } from '../../queries/projects/project-roots.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import { readPeriod } from '../../periods.ts'
import { NO_DATE, readClock } from '../dates.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import type { ApiContext } from '../api-context.ts'
import { noBody, purgeBody } from '../route-parameters.ts'
import type { PurgeActs } from '../purge-shapes.ts'
import type { PurgeState } from '../schemas/purge.ts'

type Body = z.output<typeof purgeBody>

export function purgeRoutes(context: ApiContext): Hono {
  return new Hono()
    .get('/api/purge', (c) => {
      readQuery(c, noParameters)
      return c.json(readState(context))
    })
    .post('/api/purge', async (c) => {
      readQuery(c, noParameters)
      const given = await readBody(c, purgeBody)
      const scope = scopeOf(context, given)
      return c.json(await unlessBusy(() => actsOf(context).purge({ scope, isDryRun: given.dryRun })))
    })
    .post('/api/purge/accept-lost-bars', async (c) => {
      readQuery(c, noParameters)
      await readBody(c, noBody)
      await actsOf(context).acceptLostBars()
      return c.json(readState(context))
    })
}

function actsOf({ purging }: ApiContext): PurgeActs {
  if (purging === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
  return purging
}

function readState(context: ApiContext): PurgeState {
  const db = context.mirror()
  const user = openBars(db.name)
  try {
    const bars = countBars(user)
    return {
      doing: context.purging?.doing ?? null,
      tombstones: countKinds(user),
      lostBars: countLost(db, bars),
      unfinished: readUnfinished(db, bars),
    }
  } finally {
    user.close()
  }
}

function scopeOf(context: ApiContext, { chats, projects, before, tz, match }: Body): PurgeScope {
  if (chats === undefined && projects === undefined && before === undefined && match === undefined) {
    throw new Problem(400, 'bad-body', 'Nothing to remove is named: give chats, projects, before or match.')
  }
  const clock = readClock(tz ?? null, context)
  const beforeMs = before === undefined ? null : (readPeriod(before, clock)?.startMs ?? badDate())
  return {
    chatIds: chats === undefined ? null : chats.map(asChatId),
    projectUris: projects === undefined ? null : urisOf(context, projects),
    beforeMs,
    match: match ?? null,
  }
}

function badDate(): never {
  throw badParameters([{ name: 'before', reason: NO_DATE }], 'bad-body')
}

/** An unknown project is refused: otherwise its purge would remove nothing and seem to succeed. */
function urisOf(context: ApiContext, names: readonly string[]): string[] {
  const db = context.mirror()
  const unknown = names.filter((name) => resolveProjects(db, [name]).length === 0)
  if (unknown.length > 0) {
    throw badParameters(
      unknown.map((name) => ({ name: 'projects', reason: `names an unknown project: ${name}` })),
      'bad-body',
    )
  }
  const nums = new Set(resolveProjects(db, names))
  return listProjectRoots(db).flatMap(({ num, uri }) => (nums.has(num) ? [uri] : []))
}

async function unlessBusy<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof UserError) || !['purge-busy', 'archive-busy'].includes(error.code)) throw error
    throw new Problem(429, error.code, `${error.message} ${error.hint}`)
  }
}
