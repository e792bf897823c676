import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import {
  archiveAnswer,
  archivedChatsAnswer,
  archivesAnswer,
  restoredAnswer,
  verdictAnswer,
  type ArchiveRun,
} from '../../answers/archives.ts'
import { readClock } from '../dates.ts'
import { bodyFlag, page, parametersOf, text } from '../params.ts'
import { badParameters, notFound } from '../problem.ts'
import { route, type Api } from '../route.ts'

const SCOPE = 'must be a search, or null for everything'
const MAP = 'must be an object that maps absolute folders to their paths on this machine'
const FROM = 'must be the absolute path of an archive folder'

export const archiveRoutes = [
  route({
    method: 'POST',
    path: '/api/archives',
    says: 'Starts an archive run: {"scope": a search, or null for all}.',
    body: z.object({
      scope: z._default(z.nullable(z.string(SCOPE).check(z.minLength(1, SCOPE))), null),
      tz: z.optional(z.string('must be a time zone')),
    }),
    status: 202,
    answer: archiveAnswer,
    handle: ({ body: { scope, tz } }, api) => api.archives.run(scope, readClock(tz ?? null, api).timeZone).run,
  }),
  route({
    method: 'GET',
    path: '/api/archives',
    says: 'Archives, the newest first, and when each was last verified.',
    query: parametersOf(page),
    answer: archivesAnswer,
    handle: ({ query: { limit, offset } }, { archives }) => {
      const all = archives.list()
      return { items: all.slice(offset, offset + limit), total: all.length, limit, offset }
    },
  }),
  route({
    method: 'GET',
    path: '/api/archives/:name',
    says: 'One archive.',
    answer: archiveAnswer,
    problems: [404],
    handle: ({ id }, api) => known(api, id),
  }),
  route({
    method: 'GET',
    path: '/api/archives/:name/chats',
    says: 'The chats of an archive, by title: q has words of the title, or the beginning of the id.',
    query: parametersOf({ q: text(), ...page }),
    answer: archivedChatsAnswer,
    problems: [404],
    handle: ({ id, query }, api) => {
      const name = id === 'newest' ? null : known(api, id).name
      return api.ask({ kind: 'archived', request: { ...query, dir: api.archives.dir, name } })
    },
  }),
  route({
    method: 'POST',
    path: '/api/archives/:name/verify',
    says: 'Reads every byte of the archive folder.',
    answer: verdictAnswer,
    problems: [404, 429],
    handle: ({ id }, api) => api.archives.verify(known(api, id).name),
  }),
  route({
    method: 'POST',
    path: '/api/archives/:name/restore',
    says: 'Restores what is missing here: {"from": a folder, "map": {"/Users/a": "/home/b"}, "dryRun"}.',
    body: z.object({
      from: z._default(z.nullable(z.string(FROM).check(z.refine((given) => isAbsolute(given), FROM))), null),
      map: z._default(z.record(z.string(), z.string(MAP), MAP), {}),
      dryRun: bodyFlag(false),
    }),
    answer: restoredAnswer,
    problems: [404],
    handle: ({ id: name, body: { from, ...how } }, api) => {
      if (from === null && name !== 'newest') known(api, name)
      return api.archives.restore({ name, from, ...how }).catch(namingMap)
    },
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
