import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { MATCH_LENGTH_MAX, MATCH_LENGTH_MIN } from '../../mirror/purge/scope.ts'
import { roles } from '../../model/message.ts'
import { bucketUnits } from '../buckets.ts'
import { exportFormats } from '../export/formats.ts'
import { chatSorts } from '../queries/chats/list-chats.ts'
import { partNames } from '../search/language/tree.ts'
import { facetNames, searchSorts } from '../search/request.ts'
import { tokenGroupings } from '../tokens/request.ts'
import { anyOf, flag, limit, listOf, offset, oneOf, parametersOf, text, wholeNumber, word, words } from './params.ts'

// The parameters of each route. The sentence about each is in `documented-routes.ts`.

const dates = { from: word(), to: word(), tz: word() }
const page = { limit: limit(), offset: offset() }

/** Every skipped hit costs time. */
const OFFSET_MAX = 10_000

export const searchParameters = parametersOf({
  q: text(),
  project: words(),
  role: anyOf(roles),
  in: anyOf(partNames),
  tool: words(),
  model: words(),
  mode: words(),
  path: words(),
  machine: words(),
  chat: words(),
  ...dates,
  sort: oneOf(searchSorts),
  group: oneOf(['chat']),
  facets: listOf(facetNames),
  explain: flag(),
  literal: flag(),
  redact: flag(),
  limit: limit(),
  offset: offset(OFFSET_MAX),
})

const SUGGESTIONS_MAX = 20
const SUGGESTIONS_DEFAULT = 10

export const suggestParameters = parametersOf({ q: text(), limit: limit(SUGGESTIONS_MAX, SUGGESTIONS_DEFAULT) })

export const chatsParameters = parametersOf({
  project: words(),
  ...dates,
  mode: words(),
  model: words(),
  machine: words(),
  archived: flag(),
  deleted: flag(),
  subagents: flag(),
  includeEmpty: flag(),
  idPrefix: word(),
  q: text(),
  sort: oneOf(chatSorts),
  commit: word(),
  repo: word(),
  ...page,
})

export const messagesParameters = parametersOf({ ...page, around: word(), includeOrphans: flag() })

export const exportParameters = parametersOf({ as: oneOf(exportFormats), includeOrphans: flag(), redact: flag() })

export const projectsParameters = parametersOf(page)

export const commitsParameters = parametersOf({ repo: word(), ...dates, ...page })

export const projectStatsParameters = parametersOf({ ...dates, bucket: oneOf(bucketUnits), machine: words() })
export const statsParameters = parametersOf({ ...projectStatsParameters.shape, project: words() })

export const lossesParameters = parametersOf({ project: words(), machine: words(), ...dates, ...page })

export const tokensParameters = parametersOf({
  groupBy: oneOf(tokenGroupings),
  project: words(),
  model: words(),
  machine: words(),
  ...dates,
  prices: flag(),
  as: oneOf(['json', 'csv']),
  limit: wholeNumber({ min: 1, max: 10_000 }),
})

export const importParameters = parametersOf({ tz: word() })

export const archivesParameters = parametersOf(page)

const SCOPE = 'must be a search, or null for everything'
export const runBody = z.object({
  scope: z._default(z.nullable(z.string(SCOPE).check(z.minLength(1, SCOPE))), null),
  tz: z.optional(z.string('must be a time zone')),
})

export const noBody = z.object({})

const MAP = 'must be an object that maps absolute folders to their paths on this machine'
const FROM = 'must be the absolute path of an archive folder'
export const restoreBody = z.object({
  from: z._default(z.nullable(z.string(FROM).check(z.refine((given) => isAbsolute(given), FROM))), null),
  map: z._default(z.record(z.string(), z.string(MAP), MAP), {}),
})

const WORDS = 'must be a list of non-empty texts'
const bodyWords = z.array(z.string(WORDS).check(z.minLength(1, WORDS)), WORDS).check(z.minLength(1, WORDS))
const bodyText = (reason: string) => z.string(reason).check(z.minLength(1, reason))
const MATCH = `must be a text of ${MATCH_LENGTH_MIN} to ${MATCH_LENGTH_MAX} characters`

/** The text to match is only in the body, because URLs get logged. */
export const purgeBody = z.object({
  chats: z.optional(bodyWords),
  projects: z.optional(bodyWords),
  before: z.optional(bodyText('must be a date')),
  tz: z.optional(bodyText('must be a time zone')),
  match: z.optional(
    z
      .string(MATCH)
      .check(z.refine((given) => given.trim().length >= MATCH_LENGTH_MIN && given.length <= MATCH_LENGTH_MAX, MATCH)),
  ),
  dryRun: z._default(z.boolean('must be true or false'), true),
})

const hubNames = z._default(z.nullable(bodyWords), null)
export const hubPullBody = z.object({ projects: hubNames })
export const hubPushBody = z.object({
  projects: hubNames,
  dryRun: z._default(z.boolean('must be true or false'), false),
})

export const syncBody = z.object({ full: z._default(z.boolean('must be true or false'), false) })
