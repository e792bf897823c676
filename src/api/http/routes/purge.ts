import { Hono } from 'hono'
import * as z from 'zod/mini'
import { countTombstones } from '../../../mirror/purge/tombstones.ts'
import { MATCH_LENGTH_MAX, MATCH_LENGTH_MIN, type PurgeScope } from '../../../mirror/purge/scope.ts'
import { readUnfinished } from '../../../mirror/purge/state.ts'
import { asChatId } from '../../../model/ids.ts'
import { UserError } from '../../../model/user-error.ts'
import { listProjectRoots } from '../../queries/projects/project-roots.ts'
import { resolveProjects } from '../../queries/projects/list-projects.ts'
import { readPeriod } from '../../periods.ts'
import { NO_DATE, readClock } from '../dates.ts'
import { readBody } from '../json-body.ts'
import { noParameters, readQuery } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import type { PurgeState } from '../purge-shapes.ts'
import type { ApiContext } from '../api-context.ts'

const WORDS = 'must be a list of non-empty texts'
const words = z.array(z.string(WORDS).check(z.minLength(1, WORDS)), WORDS).check(z.minLength(1, WORDS))
const text = (reason: string) => z.string(reason).check(z.minLength(1, reason))
const MATCH = `must be a text of ${MATCH_LENGTH_MIN} to ${MATCH_LENGTH_MAX} characters`

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

/** The text to match is only in the body, because URLs get logged. */
export function purgeRoutes(context: ApiContext): Hono {
  return new Hono()
    .get('/api/purge', (c) => {
      readQuery(c, noParameters)
      return c.json(readState(context))
    })
    .post('/api/purge', async (c) => {
      readQuery(c, noParameters)
      const given = await readBody(c, body)
      const scope = scopeOf(context, given)
      const { purging } = context
      if (purging === undefined) throw new Problem(503, 'no-writer', 'This process cannot write to the mirror.')
      return c.json(await unlessBusy(() => purging.purge({ scope, isDryRun: given.dryRun })))
    })
}

function readState(context: ApiContext): PurgeState {
  const db = context.mirror()
  return { doing: context.purging?.doing ?? null, tombstones: countTombstones(db), unfinished: readUnfinished(db) }
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
