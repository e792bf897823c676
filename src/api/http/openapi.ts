import * as z from 'zod/mini'
import {
  commonProblems,
  documentedRoutes,
  parameterSentences,
  problemSentences,
  type DocumentedRoute,
} from './documented-routes.ts'
import type { Json } from '../../model/json.ts'
import { routeTable, type RouteEntry } from './route-table.ts'
import { problem } from '../answers/common.ts'

type JsonObject = { readonly [key: string]: Json }

/** The OpenAPI 3.1 document of all routes below `/api`. It contains no data of the user. */
export function openApiDocument(version: string): JsonObject {
  const routes = routeTable.flatMap((entry) => {
    const name = `${entry.method} ${entry.path}`
    return isDocumented(name) ? [{ name, entry, route: documentedRoutes[name] }] : []
  })
  const answers = answerSchemas(routes)
  const paths: Record<string, Record<string, Json>> = {}
  for (const { name, entry, route } of routes) {
    const path = entry.path.replaceAll(/:(\w+)/g, '{$1}')
    const operation = operationOf(entry, route, answers.byRoute[name] ?? null)
    paths[path] = { ...paths[path], [entry.method.toLowerCase()]: operation }
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

const isDocumented = (name: string): name is keyof typeof documentedRoutes => name in documentedRoutes

interface Named {
  readonly name: string
  readonly route: DocumentedRoute
}

/** All schemas in one call, so that a shape with a name of its own is written once and referred to. */
function answerSchemas(routes: readonly Named[]): {
  readonly byRoute: Readonly<Record<string, Json>>
  readonly shared: JsonObject
} {
  const answers = routes.flatMap(({ name, route }) => (isSchema(route.answer) ? [[name, route.answer] as const] : []))
  const all = toJson(z.object({ ...Object.fromEntries(answers), problem }), 'output')
  const { properties, $defs } = all as { readonly properties: JsonObject; readonly $defs: JsonObject }
  return { byRoute: moved(properties) as JsonObject, shared: moved($defs) as JsonObject }
}

const isSchema = (answer: DocumentedRoute['answer']): answer is z.ZodMiniType => !Array.isArray(answer)

function toJson(schema: z.ZodMiniType, io: 'input' | 'output'): JsonObject {
  return z.toJSONSchema(schema, {
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
  }) as unknown as JsonObject
}

/** References into the components of the document. */
function moved(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}

function operationOf(entry: RouteEntry, route: DocumentedRoute, schema: Json): JsonObject {
  const parameters = [...pathParameters(entry.path), ...queryParameters(route.parameters)]
  const problems = [...new Set([...commonProblems, ...(route.problems ?? [])])].toSorted((one, other) => one - other)
  return {
    summary: entry.explains,
    operationId: operationId(entry),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: bodyOf(route.body, route.bodyType) }),
    responses: {
      [route.status ?? 200]: { description: 'The answer.', content: contentOf(route, schema) },
      ...Object.fromEntries(problems.map((status) => [status, problemResponse(status)])),
    },
  }
}

function operationId({ method, path }: RouteEntry): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api')
  const camel = words.map((word) => word.replace(/^:?(\w)/, (_, first: string) => first.toUpperCase()))
  return `${method.toLowerCase()}${camel.join('')}`
}

function contentOf({ answer, alsoAs = [] }: DocumentedRoute, schema: Json): JsonObject {
  return {
    ...(isSchema(answer) ? { 'application/json': { schema } } : {}),
    // The export as JSON is the file of the chat. It has a format of its own.
    ...Object.fromEntries((isSchema(answer) ? alsoAs : answer).map((type) => [type, { schema: {} }])),
  }
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

function queryParameters(parameters: z.ZodMiniObject): Json[] {
  const { properties } = toJson(parameters, 'output') as { readonly properties?: Readonly<Record<string, Json>> }
  return Object.entries(properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    description: parameterSentences[name] ?? '',
    schema: withoutNull(schema),
  }))
}

/** A parameter that is not given is null in the program. In a query it is absent. */
function withoutNull(schema: Json): Json {
  const { anyOf, type, default: preset, ...rest } = schema as JsonObject
  const first = Array.isArray(anyOf) ? (anyOf as readonly JsonObject[]).find((each) => each['type'] !== 'null') : {}
  const own = [type].flat().find((each) => each !== 'null')
  return {
    ...(own === undefined ? {} : { type: own }),
    ...rest,
    ...first,
    ...(preset === null || preset === undefined ? {} : { default: preset }),
  }
}

function bodyOf(body: z.ZodMiniType, type = 'application/json'): JsonObject {
  const { $schema, ...schema } = toJson(body, 'input')
  void $schema
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>> | undefined
  const described = Object.entries(properties ?? {}).map(([name, each]) => [
    name,
    { ...each, description: bodySentences[name] ?? parameterSentences[name] ?? '' },
  ])
  const content = properties === undefined ? schema : { ...schema, properties: Object.fromEntries(described) }
  return { content: { [type]: { schema: content as Json } } }
}

/** Keys of bodies that mean something else than the parameter of the same name. */
const bodySentences: Readonly<Record<string, string>> = {
  from: 'The absolute path of an archive folder from another machine; null for the own one.',
}
