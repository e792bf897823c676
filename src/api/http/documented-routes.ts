import * as z from 'zod/mini'
import * as given from './route-parameters.ts'
import type { RouteName } from './route-table.ts'
import { archiveAnswer, archivesAnswer, restoredAnswer, verdictAnswer } from '../answers/archives.ts'
import { chatAnswer, chatsAnswer, lossesAnswer } from '../answers/chats.ts'
import { commitsAnswer } from '../answers/commits.ts'
import { healthAnswer } from '../answers/common.ts'
import { messagesAnswer } from '../answers/messages.ts'
import { project, projectsAnswer } from '../answers/projects.ts'
import { hubAnswer, hubPullAnswer, hubPushAnswer } from '../answers/hub.ts'
import { acceptedAnswer, purgeAnswer } from '../answers/purge.ts'
import { searchAnswer, suggestAnswer } from '../answers/search.ts'
import { statsAnswer } from '../answers/stats.ts'
import { readyAnswer, statusAnswer, syncAnswer } from '../answers/status.ts'
import { importAnswer, tokensAnswer } from '../answers/tokens.ts'
import { noParameters } from './params.ts'

/** What the document says of a route, besides its sentence in the route table. */
export interface DocumentedRoute {
  readonly parameters: z.ZodMiniObject
  /** The schema of the answer; the media types of an answer that is not JSON. */
  readonly answer: z.ZodMiniType | readonly string[]
  /** Other media types in which the same answer is given. */
  readonly alsoAs?: readonly string[]
  readonly status?: 202
  readonly body?: z.ZodMiniType
  readonly bodyType?: string
  /** Statuses of its problems, besides those that every route has. */
  readonly problems?: readonly Status[]
}

/** The problems of every route: what the guard refuses, and a mirror that is missing, damaged or busy. */
export const commonProblems = [400, 401, 403, 421, 503] as const

export const problemSentences = {
  400: 'A parameter, the body or the path is wrong. errors lists what.',
  401: 'The token is required and was not sent.',
  403: 'The request comes from a page of another origin.',
  404: 'Nothing has this id, sha or name.',
  409: 'The named project has no readable git history.',
  413: 'The body is too long.',
  415: 'The body has another media type.',
  421: 'The Host header names another server.',
  429: 'Another act of this kind runs. Try again when it is done.',
  503: 'The mirror is missing, damaged or busy, or time ran out. The detail says what to do.',
} as const
type Status = keyof typeof problemSentences

/** The routes below `/api`, and the metrics. */
type ApiRoute = Extract<RouteName, `${string} /api/${string}` | 'GET /metrics'>

const posted = [413, 415] as const

export const documentedRoutes: Readonly<Record<ApiRoute, DocumentedRoute>> = {
  'GET /api/health': { parameters: noParameters, answer: healthAnswer },
  'GET /api/status': { parameters: noParameters, answer: statusAnswer },
  'GET /api/ready': { parameters: noParameters, answer: readyAnswer },
  'GET /api/search': { parameters: given.searchParameters, answer: searchAnswer },
  'GET /api/suggest': { parameters: given.suggestParameters, answer: suggestAnswer },
  'GET /api/chats': { parameters: given.chatsParameters, answer: chatsAnswer, problems: [404, 409] },
  'GET /api/chats/:id': { parameters: noParameters, answer: chatAnswer, problems: [404] },
  'GET /api/chats/:id/messages': { parameters: given.messagesParameters, answer: messagesAnswer, problems: [404] },
  'GET /api/chats/:id/export': {
    parameters: given.exportParameters,
    answer: ['text/markdown', 'application/json', 'application/jsonl', 'text/html'],
    problems: [404],
  },
  'GET /api/projects': { parameters: given.projectsParameters, answer: projectsAnswer },
  'GET /api/projects/:id': { parameters: noParameters, answer: project, problems: [404] },
  'GET /api/commits': { parameters: given.commitsParameters, answer: commitsAnswer, problems: [409] },
  'GET /api/stats': { parameters: given.statsParameters, answer: statsAnswer },
  'GET /api/projects/:id/stats': { parameters: given.projectStatsParameters, answer: statsAnswer, problems: [404] },
  'GET /api/losses': { parameters: given.lossesParameters, answer: lossesAnswer },
  'GET /api/tokens': { parameters: given.tokensParameters, answer: tokensAnswer, alsoAs: ['text/csv'] },
  'POST /api/tokens/import': {
    parameters: given.importParameters,
    body: z.string(),
    bodyType: 'text/csv',
    answer: importAnswer,
    problems: posted,
  },
  'POST /api/archives': {
    parameters: noParameters,
    body: given.runBody,
    status: 202,
    answer: archiveAnswer,
    problems: posted,
  },
  'GET /api/archives': { parameters: given.archivesParameters, answer: archivesAnswer },
  'GET /api/archives/:name': { parameters: noParameters, answer: archiveAnswer, problems: [404] },
  'POST /api/archives/:name/verify': {
    parameters: noParameters,
    body: given.noBody,
    answer: verdictAnswer,
    problems: [404, ...posted, 429],
  },
  'POST /api/archives/:name/restore': {
    parameters: noParameters,
    body: given.restoreBody,
    answer: restoredAnswer,
    problems: [404, ...posted],
  },
  'POST /api/purge': {
    parameters: noParameters,
    body: given.purgeBody,
    answer: purgeAnswer,
    problems: [...posted, 429],
  },
  'POST /api/purge/accept-lost-bars': {
    parameters: noParameters,
    body: given.noBody,
    answer: acceptedAnswer,
    problems: posted,
  },
  'GET /api/hub': { parameters: noParameters, answer: hubAnswer },
  'POST /api/hub/push': {
    parameters: noParameters,
    body: given.hubPushBody,
    answer: hubPushAnswer,
    problems: [...posted, 503],
  },
  'POST /api/hub/pull': {
    parameters: noParameters,
    body: given.hubPullBody,
    answer: hubPullAnswer,
    problems: [...posted, 503],
  },
  'POST /api/sync': { parameters: noParameters, body: given.syncBody, answer: syncAnswer, problems: posted },
  'GET /metrics': { parameters: noParameters, answer: ['text/plain'] },
  'GET /api/events': { parameters: noParameters, answer: ['text/event-stream'] },
}

/** A sentence for each parameter and key. Most mean the same in every route. */
export const parameterSentences: Readonly<Record<string, string>> = {
  q: 'The words to look for. In a search: in the search language. In a list: words of titles.',
  project: 'Only this project: its id, exact name or path. Repeated, one match is enough.',
  role: 'Only messages of this role.',
  in: 'Only matches in this kind of part.',
  tool: 'Only messages that call this tool.',
  model: 'Only of this model.',
  mode: 'Only chats of this mode, such as agent.',
  path: 'Only messages that name this file or folder.',
  machine: 'Only chats of this machine: its name or user/name. local is this one. Repeated, one match is enough.',
  chat: 'Only this chat: its id.',
  from: 'The start of the period, inclusive: a date, a time, or a word such as yesterday or 7d.',
  to: 'The end of the period, exclusive.',
  tz: 'The time zone of dates without one. By default the zone of the daemon.',
  sort: 'The order of the items.',
  group: 'chat gives one item per chat: its best message.',
  facets: 'Counts of the hits by these values, separated by commas.',
  explain: 'Adds how the query was understood and run.',
  literal: 'Searches exactly what was typed: a misspelt word is not replaced.',
  limit: 'How many items to return.',
  offset: 'How many items to skip.',
  archived: 'Only archived chats, or only others.',
  deleted: 'Only chats that Cursor deleted, or only others.',
  subagents: 'Lists chats of subagents too.',
  idPrefix: 'Only chats whose id begins like this. A whole id finds only its chat.',
  includeEmpty: 'Lists drafts and chats without messages too.',
  commit: 'Only chats that may have led to the commit with this sha. Needs repo.',
  repo: 'The repository: id, name or path of a known project, or a folder in one.',
  around: 'Centres the page on the message with this id, or with the only id that begins so.',
  includeOrphans: 'Adds messages that the chat no longer lists, at the end.',
  as: 'The format of the answer.',
  redact: 'Masks secrets.',
  confidence: 'How sure a match must be at least.',
  bucket: 'The unit of the series.',
  groupBy: 'What a row is made for.',
  prices: 'Whether recorded tokens are priced. True by default.',
  id: 'The id, percent-encoded.',
  name: 'The name of the archive, percent-encoded, or newest.',
  scope: 'Which chats are archived: a search, or null for everything.',
  map: 'Folders on the other machine, and their paths on this one.',
  chats: 'Ids of chats.',
  projects: 'Projects by id, name or path; for the hub also by their names there, and * is all.',
  before: 'Only what is older than this date.',
  match: 'A text that must be in the chat.',
  dryRun: 'True only reports what would be removed, or sent.',
  full: 'Compares every value, not only what looks changed.',
}
