import * as z from 'zod/mini'
import type { Json } from '../../model/json.ts'
import { filterSentences } from '../../shared/filters.ts'
import { problem } from '../answers/common.ts'
import { problemSentences, type Route } from './route.ts'
import { routes } from './routes.ts'

type JsonObject = { readonly [key: string]: Json }

/** The OpenAPI 3.1 document of all routes below `/api`. It contains no data of the user. */
export function openApiDocument(version: string): JsonObject {
  const answers = answerSchemas()
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = operationOf(route, answers.byRoute[nameOf(route)] ?? null)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'cursordex',
      version,
      description: 'Search over the chats of Cursor, from a mirror on this machine. All times are ISO 8601 in UTC.',
    },
    servers: [{ url: '/' }],
    security: [{}, { token: [] }],
    paths,
    components: {
      schemas: answers.shared,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'From the file token in the data folder, if auth.required is on.',
        },
      },
    },
  }
}

/** All schemas in one call, so that a shape with a name of its own is written once and referred to. */
function answerSchemas(): { readonly byRoute: Readonly<Record<string, Json>>; readonly shared: JsonObject } {
  const answers = routes.flatMap((each) => (isSchema(each.answer) ? [[nameOf(each), each.answer] as const] : []))
  const all = toJson(z.object({ ...Object.fromEntries(answers), problem }), 'output')
  const { properties, $defs } = all as { readonly properties: JsonObject; readonly $defs: JsonObject }
  return { byRoute: moved(properties) as JsonObject, shared: moved($defs) as JsonObject }
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`
const isSchema = (answer: Route['answer']): answer is z.ZodMiniType => !Array.isArray(answer)

function toJson(schema: z.core.$ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // A later version may add fields.
      delete jsonSchema.additionalProperties
      delete jsonSchema.id
      delete jsonSchema.readOnly
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return json as unknown as JsonObject
}

/** References into the components of the document. */
function moved(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}

/** The problems of every route: what the guard refuses, and a mirror that is missing, damaged or busy. */
const COMMON = [400, 401, 403, 421, 503] as const
const POSTED = [413, 415] as const

function operationOf(route: Route, schema: Json): JsonObject {
  const parameters = [...pathParameters(route.path), ...queryParameters(route.query)]
  const named = route.path.includes(':') ? [404 as const] : []
  const own = [...(route.method === 'POST' ? POSTED : []), ...named, ...(route.problems ?? [])]
  const problems = [...new Set([...COMMON, ...own])].toSorted((one, other) => one - other)
  return {
    summary: route.says,
    operationId: operationId(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.method === 'POST' ? { requestBody: bodyOf(route) } : {}),
    responses: {
      [route.status ?? 200]: { description: 'The answer.', content: contentOf(route, schema) },
      ...Object.fromEntries(problems.map((status) => [status, problemResponse(status)])),
    },
  }
}

/** `getChatsIdMessages` */
const operationId = ({ method, path }: Route): string =>
  method.toLowerCase() + path.replace(/^\/api/, '').replaceAll(/\W+(\w)/g, (_, first: string) => first.toUpperCase())

function contentOf({ answer }: Route, schema: Json): JsonObject {
  if (isSchema(answer)) return { 'application/json': { schema } }
  // The export as JSON is the file of the chat. It has a format of its own.
  return Object.fromEntries(answer.map((type) => [type, { schema: {} }]))
}

function problemResponse(status: keyof typeof problemSentences): JsonObject {
  const schema = { $ref: '#/components/schemas/Problem' }
  return { description: problemSentences[status], content: { 'application/problem+json': { schema } } }
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: parameterSentences[name] ?? '',
    schema: { type: 'string' },
  }))
}

function queryParameters(query: Route['query']): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    // Each parameter has a default. Null stands for one that is not given: in a query it is absent.
    const { innerType, defaultValue } = (schema as z.ZodMiniDefault)._zod.def
    const given = innerType instanceof z.ZodMiniNullable ? innerType._zod.def.innerType : innerType
    const preset = defaultValue === null ? {} : { default: defaultValue as Json }
    const json = { ...toJson(given, 'output'), ...preset }
    return { name, in: 'query', description: parameterSentences[name] ?? '', schema: json }
  })
}

function bodyOf({ body, bodyType }: Route): JsonObject {
  if (bodyType !== undefined) return { content: { [bodyType]: { schema: { type: 'string' } } } }
  const schema = toJson(body ?? z.object({}), 'input')
  const described = Object.entries(schema['properties'] as Readonly<Record<string, JsonObject>>).map(([name, each]) => [
    name,
    { ...each, description: bodySentences[name] ?? parameterSentences[name] ?? '' },
  ])
  return { content: { 'application/json': { schema: { ...schema, properties: Object.fromEntries(described) } } } }
}

/** Keys of bodies that mean something else than the parameter of the same name. */
const bodySentences: Readonly<Record<string, string>> = {
  from: 'The absolute path of an archive folder from another machine; null for the own one.',
}

/** A sentence for each parameter and key. Most mean the same in every route. */
const parameterSentences: Readonly<Record<string, string>> = {
  ...filterSentences,
  q: 'The words to look for. In a search: in the search language. In a list: words of titles.',
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
  commit: 'Only chats that may have led to this commit: its sha, or a name that git resolves. Needs repo.',
  repo: 'The repository: id, name or path of a known project, or a folder in one.',
  around: 'Centres the page on the message with this id, or with the only id that begins so.',
  includeOrphans: 'Adds messages that the chat no longer lists, at the end.',
  as: 'The format of the answer.',
  redact: 'Masks secrets.',
  withoutActive: 'Leaves out chats that were active in the last ten minutes.',
  bucket: 'The unit of the series.',
  groupBy: 'What a row is made for.',
  id: 'The id, percent-encoded.',
  name: 'The name of the archive, percent-encoded, or newest.',
  scope: 'Which chats are archived: a search, or null for everything.',
  map: 'Folders on the other machine, and their paths on this one.',
  chats: 'Ids of chats.',
  projects: 'Projects by id, name or path; for the hub also by their names there, and * is all.',
  before: 'Only what is older than this date.',
  match: 'A text that must be in the chat.',
  dryRun: 'True only reports what would be removed, or sent.',
  message: 'The id of a message.',
  old: 'The project whose chats move, by name, path or id.',
  new: 'The project to which they belong from now on. Undone, it may be left out.',
  undo: 'True lets them belong to their own project again.',
  full: 'Compares every value, not only what looks changed.',
}
