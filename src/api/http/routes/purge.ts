import { Hono } from 'hono'
import * as z from 'zod/mini'
import { countTombstones } from '../../../mirror/purge/tombstones.ts'
import { MATCH_LENGTH_MAX, MATCH_LENGTH_MIN, type PurgeScope } from '../../../mirror/purge/scope.ts'
import { readUnfinished } from '../../../mirror/purge/state.ts'
import { asChatId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { listProjectRoots } from '../../queries/projects/project-roots.ts'
import { resolveProjects } from '../../queries/projects/resolve-projects.ts'
import { readPeriod } from '../../periods.ts'
import { NO_DATE, readClock } from '../dates.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import type { PurgeState } from '../purge-shapes.ts'
import type { ApiWorld } from '../world.ts'

const WORDS = 'must be a list of texts, none of them empty'
const words = z.array(z.string(WORDS).check(z.minLength(1, WORDS)), WORDS).check(z.minLength(1, WORDS))
const text = (reason: string) => z.string(reason).check(z.minLength(1, reason))
const MATCH = `must be a text of ${MATCH_LENGTH_MIN} to ${MATCH_LENGTH_MAX} signs`

const body = z.object({
  chats: z.optional(words),
  projects: z.optional(words),
  before: z.optional(text('must be a date')),
  tz: z.optional(text('must be a time zone')),
  match: z.optional(
    z
      .string(MATCH)
      .check(z.refine((given) => given.trim().length >= MATCH_LENGTH_MIN && given.length <= MATCH_LENGTH_MAX, MATCH)),
  ),
  dryRun: z._default(z.boolean('must be true or false'), true),
})

type Body = z.output<typeof body>

/** What is looked for stands in the body alone: a path is what people and programs write down. */
export function purgeRoutes(world: ApiWorld): Hono {
  return new Hono()
    .get('/api/purge', (c) => {
      readQuery(c, noParameters)
      return c.json(readState(world))
    })
    .post('/api/purge', async (c) => {
      readQuery(c, noParameters)
      const given = await readBody(c, body)
      const scope = scopeOf(world, given)
      const { purging } = world
      if (purging === undefined) throw new Problem(503, 'no-writer', 'Nobody here can write to the mirror.')
      return c.json(await unlessBusy(() => purging.purge({ scope, isDryRun: given.dryRun })))
    })
}

function readState(world: ApiWorld): PurgeState {
  const db = world.mirror()
  return { doing: world.purging?.doing ?? null, tombstones: countTombstones(db), unfinished: readUnfinished(db) }
}

function scopeOf(world: ApiWorld, { chats, projects, before, tz, match }: Body): PurgeScope {
  if (chats === undefined && projects === undefined && before === undefined && match === undefined) {
    const nothing = 'Nothing is named that should go: give chats, projects, before or match.'
    throw new Problem(400, 'bad-body', nothing)
  }
  const clock = readClock(tz ?? null, world)
  const beforeMs = before === undefined ? null : (readPeriod(before, clock)?.startMs ?? badDate())
  return {
    chatIds: chats === undefined ? null : chats.map(asChatId),
    projectUris: projects === undefined ? null : urisOf(world, projects),
    beforeMs,
    match: match ?? null,
  }
}

function badDate(): never {
  throw badParameters([{ name: 'before', reason: NO_DATE }], 'bad-body')
}

/** A project that nobody knows would be a purge of nothing, taken for one of something. */
function urisOf(world: ApiWorld, names: readonly string[]): string[] {
  const db = world.mirror()
  const unknown = names.filter((name) => resolveProjects(db, [name]).length === 0)
  if (unknown.length > 0) {
    throw badParameters(
      unknown.map((name) => ({ name: 'projects', reason: `names no project that is known: ${name}` })),
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
