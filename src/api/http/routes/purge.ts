import * as z from 'zod/mini'
import { MATCH_LENGTH_MAX, MATCH_LENGTH_MIN, type PurgeScope } from '../../../mirror/purge/scope.ts'
import { asChatId } from '../../../model/ids.ts'
import { acceptedAnswer, purgeAnswer } from '../../answers/archives.ts'
import { listProjectRoots, resolveProjects } from '../../queries/projects/list-projects.ts'
import { readPeriod } from '../../periods.ts'
import { NO_DATE, readClock } from '../dates.ts'
import { bodyFlag, bodyText, bodyWords } from '../params.ts'
import { badParameters, Problem } from '../problem.ts'
import type { ApiContext, PurgeActs } from '../../context.ts'
import { route } from '../route.ts'

const MATCH = `must be a text of ${MATCH_LENGTH_MIN} to ${MATCH_LENGTH_MAX} characters`
const isMatch = (given: string): boolean => given.trim().length >= MATCH_LENGTH_MIN && given.length <= MATCH_LENGTH_MAX

/** The text to match is only in the body, because URLs get logged. */
const purgeBody = z.object({
  chats: z.optional(bodyWords),
  projects: z.optional(bodyWords),
  before: z.optional(bodyText('must be a date')),
  tz: z.optional(bodyText('must be a time zone')),
  match: z.optional(z.string(MATCH).check(z.refine(isMatch, MATCH))),
  dryRun: bodyFlag(true),
})
type Body = z.output<typeof purgeBody>

export const purgeRoutes = [
  route({
    method: 'POST',
    path: '/api/purge',
    says: 'Removes chats for good: {"chats", "projects", "before", "match", "dryRun"}. Only reports unless dryRun is false.',
    body: purgeBody,
    answer: purgeAnswer,
    problems: [429],
    handle: ({ body }, api) => {
      const scope = scopeOf(api, body)
      const acts = actsOf(api)
      if (acts.isBusy) throw new Problem(429, 'purge-busy', 'A purge is running already. Try again when it is done.')
      return acts.purge(scope, body.dryRun)
    },
  }),
  route({
    method: 'POST',
    path: '/api/purge/accept-lost-bars',
    says: 'Goes on without bars that are missing: what they kept out may come in again.',
    answer: acceptedAnswer,
    handle: async (_, api) => {
      await actsOf(api).acceptLostBars()
      return { lostBars: 0 }
    },
  }),
]

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
