import * as z from 'zod/mini'
import { isAbsolute } from 'node:path'
import { UserError } from '../../../model/user-error.ts'
import {
  archiveAnswer,
  archivedChatsAnswer,
  archivesAnswer,
  restoredAnswer,
  verdictAnswer,
  type ArchiveRun,
  acceptedAnswer,
  purgeAnswer,
} from '../../answers/archives.ts'
import * as params from '../params.ts'
import { badParameters, notFound, Problem } from '../problem.ts'
import { get, post, type Api } from '../route.ts'
import { MATCH_LENGTH_MAX, MATCH_LENGTH_MIN, type PurgeScope } from '../../../mirror/purge/scope.ts'
import { asChatId } from '../../../model/ids.ts'
import { listProjectRoots, resolveProjects } from '../../queries/projects.ts'
import { readPeriod } from '../../periods.ts'
import type { ApiContext } from '../../context.ts'
import { hubAnswer, hubPullAnswer, hubPushAnswer } from '../../answers/hub.ts'

const SCOPE = 'must be a search, or null for everything'
const MAP = 'must be an object that maps absolute folders to their paths on this machine'
const FROM = 'must be the absolute path of an archive folder'

const MATCH = `must be a text of ${MATCH_LENGTH_MIN} to ${MATCH_LENGTH_MAX} characters`
const isMatch = (given: string): boolean => given.trim().length >= MATCH_LENGTH_MIN && given.length <= MATCH_LENGTH_MAX

/** The text to match is only in the body, because URLs get logged. */
const purgeBody = z.object({
  chats: z.optional(params.bodyWords),
  projects: z.optional(params.bodyWords),
  before: z.optional(params.bodyText('must be a date')),
  tz: z.optional(params.bodyText('must be a time zone')),
  match: z.optional(z.string(MATCH).check(z.refine(isMatch, MATCH))),
  dryRun: params.bodyFlag(true),
})
type Body = z.output<typeof purgeBody>

const namedProjects = z._default(z.nullable(params.bodyWords), null)

export const actRoutes = [
  post('/api/archives', {
    says: 'Starts an archive run: {"scope": a search, or null for all}.',
    body: z.object({
      scope: z._default(z.nullable(z.string(SCOPE).check(z.minLength(1, SCOPE))), null),
      tz: z.optional(z.string('must be a time zone')),
    }),
    status: 202,
    answer: archiveAnswer,
    handle: ({ body: { scope, tz } }, api) => api.archives.run(scope, params.readClock(tz ?? null, api).timeZone).run,
  }),
  get('/api/archives', {
    says: 'Archives, the newest first, and when each was last verified.',
    query: params.parametersOf(params.page),
    answer: archivesAnswer,
    handle: ({ query: { limit, offset } }, { archives }) => {
      const all = archives.list()
      return { items: all.slice(offset, offset + limit), total: all.length, limit, offset }
    },
  }),
  get('/api/archives/:name', {
    says: 'One archive.',
    answer: archiveAnswer,
    handle: ({ id }, api) => known(api, id),
  }),
  get('/api/archives/:name/chats', {
    says: 'The chats of an archive, by title: q has words of the title, or the beginning of the id.',
    query: params.parametersOf({ q: params.text(), ...params.page }),
    answer: archivedChatsAnswer,
    handle: ({ id, query }, api) => {
      const name = id === 'newest' ? null : known(api, id).name
      return api.ask({ kind: 'archived', request: { ...query, dir: api.archives.dir, name } })
    },
  }),
  post('/api/archives/:name/verify', {
    says: 'Reads every byte of the archive folder.',
    answer: verdictAnswer,
    problems: [429],
    handle: ({ id }, api) => api.archives.verify(known(api, id).name),
  }),
  post('/api/archives/:name/restore', {
    says: 'Restores what is missing here: {"from": a folder, "map": {"/Users/a": "/home/b"}, "dryRun"}.',
    body: z.object({
      from: z._default(z.nullable(z.string(FROM).check(z.refine((given) => isAbsolute(given), FROM))), null),
      map: z._default(z.record(z.string(), z.string(MAP), MAP), {}),
      dryRun: params.bodyFlag(false),
    }),
    answer: restoredAnswer,
    handle: ({ id: name, body: { from, ...how } }, api) => {
      if (from === null && name !== 'newest') known(api, name)
      return api.archives.restore({ name, from, ...how }).catch(namingMap)
    },
  }),
  post('/api/purge', {
    says: 'Removes chats for good: {"chats", "projects", "before", "match", "dryRun"}. Only reports unless dryRun is false.',
    body: purgeBody,
    answer: purgeAnswer,
    problems: [429],
    handle: ({ body }, api) => {
      const scope = scopeOf(api, body)
      if (api.purging.isBusy)
        throw new Problem(429, 'purge-busy', 'A purge is running already. Try again when it is done.')
      return api.purging.purge(scope, body.dryRun)
    },
  }),
  post('/api/purge/accept-lost-bars', {
    says: 'Goes on without bars that are missing: what they kept out may come in again.',
    answer: acceptedAnswer,
    handle: async (_, api) => {
      await api.purging.acceptLostBars()
      return { lostBars: 0 }
    },
  }),
  get('/api/hub', {
    says: 'The hub: machines, projects, sizes, the last push and pull.',
    answer: hubAnswer,
    handle: (_, api) => api.hub.state(),
  }),
  post('/api/hub/push', {
    says: 'Sends chats to the hub: {"projects", "dryRun"}.',
    body: z.object({ projects: namedProjects, dryRun: params.bodyFlag(false) }),
    answer: hubPushAnswer,
    handle: ({ body }, api) => api.hub.push({ projects: body.projects, isDryRun: body.dryRun }),
  }),
  post('/api/hub/pull', {
    says: 'Fetches chats of other machines from the hub: {"projects"}.',
    body: z.object({ projects: namedProjects }),
    answer: hubPullAnswer,
    handle: ({ body }, api) => api.hub.pull(body.projects),
  }),
]

function known({ archives }: Api, name: string): ArchiveRun {
  const run = archives.list().find((each) => name === 'newest' || each.name === name)
  if (run === undefined) throw notFound('archive', name)
  return run
}

/** @throws Problem that names the key of the body; any other error as it is */
function namingMap(error: unknown): never {
  if (!(error instanceof UserError)) throw error
  const { code, message, hint } = error
  if (code !== 'bad-map') throw error
  throw badParameters([{ name: 'map', reason: `is wrong: ${message} ${hint.replace(/\.$/, '')}` }], 'bad-body')
}

function scopeOf(context: ApiContext, { chats, projects, before, tz, match }: Body): PurgeScope {
  if (chats === undefined && projects === undefined && before === undefined && match === undefined) {
    throw new Problem(400, 'bad-body', 'Nothing to remove is named: give chats, projects, before or match.')
  }
  const beforeMs = before === undefined ? null : readPeriod(before, params.readClock(tz ?? null, context))?.startMs
  if (beforeMs === undefined) throw badParameters([{ name: 'before', reason: params.NO_DATE }], 'bad-body')
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
