import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../helpers/wait-until.ts'
import { ApiWorld, USAGE_FILE } from './api-world.ts'

interface Operation {
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly description: string
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, { schema: Schema }>> }>>
}
interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema & { readonly description?: string }>>
}

interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

// The suite makes its tests of what the program's own document lists.
const world = await ApiWorld.open({ eras: true })
const document = (await (await world.ask('GET', '/openapi.json')).json()) as Document

/** The document as tests read it: an answer may have no field that the document lacks. */
function strictly(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strictly)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).map(([key, value]) => [key, strictly(value)] as const)
  const strict = Object.fromEntries(members)
  return 'properties' in schema && 'type' in schema ? { ...strict, additionalProperties: false } : strict
}

const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addSchema(strictly(document) as object, 'document')
const validators = new Map<string, ValidateFunction>()

/** What is wrong with an answer by the document; empty if nothing is. */
async function faultsOf(method: string, route: string, response: Response): Promise<readonly string[]> {
  const documented = document.paths[route]?.[method.toLowerCase()]?.responses[response.status]
  if (documented === undefined) return [`${method} ${route} answered ${response.status}: ${await response.text()}`]
  const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '')
  if (documented.content[type] === undefined) return [`${method} ${route} answered ${type}`]
  if (!type.endsWith('json') || route.endsWith('/export')) return []
  const escape = (word: string) => word.replaceAll('~', '~0').replaceAll('/', '~1')
  const words = ['paths', route, method.toLowerCase(), 'responses', String(response.status), 'content', type, 'schema']
  const pointer = `document#/${words.map((word) => encodeURIComponent(escape(word))).join('/')}`
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: pointer })
  validators.set(pointer, validate)
  const body: unknown = await response.json()
  if (validate(body)) return []
  return (validate.errors ?? []).map(
    (each) => `${method} ${route} ${each.instancePath} ${each.message} ${JSON.stringify(each.params)}`,
  )
}

let archive = ''
beforeAll(async () => {
  const made = (await (await world.ask('POST', '/api/archives', '{}')).json()) as { readonly name: string }
  archive = made.name
  await waitUntil('the archive is made', async () => (await stateOf(archive)) === 'verified')
})
afterAll(() => world.remove())

async function stateOf(name: string): Promise<unknown> {
  const answer = await world.ask('GET', `/api/archives/${name}`)
  return ((await answer.json()) as { readonly state: string }).state
}

async function list(path: string): Promise<readonly { readonly id: string }[]> {
  const answer = (await (await world.ask('GET', path)).json()) as { readonly items: readonly { readonly id: string }[] }
  return answer.items
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

test('the document names its version', () => {
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
  expect(operations.length).toBeGreaterThan(20)
})

test('every parameter and every key of a body has a sentence', () => {
  const bare = operations.flatMap(({ method, path, operation }) => {
    const keys = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
      Object.entries(schema.properties ?? {}).map(([name, { description }]) => ({ name, description })),
    )
    const all = [...(operation.parameters ?? []), ...keys]
    return all.filter(({ description }) => !description).map(({ name }) => `${method} ${path} ${name}`)
  })
  expect(bare).toEqual([])
})

test('an answer with a field too many, one too few or a wrong one would be noticed', async () => {
  const right = { status: 'ok', version: '1', startedAt: 'now' }
  const wrong = [{ ...right, odd: 1 }, { status: 'ok' }, { ...right, version: 1 }]
  const faults = await Promise.all(
    [right, ...wrong].map(async (body) => faultsOf('GET', '/api/health', Response.json(body))),
  )
  expect(faults.map(({ length }) => length)).toEqual([0, 1, 1, 1])
  expect(await faultsOf('GET', '/api/health', Response.json({}, { status: 500 }))).toHaveLength(1)
})

const variants: Readonly<Record<string, readonly string[]>> = {
  '/api/search': [
    '?q=',
    '?q=login+OR+chat&group=chat&facets=project,role,part,tool,model,machine,month&explain=true',
    '?q=why+does+the+logn+fail+when+it+starts',
    '?q=login&role=assistant&tool=nothing',
    '?sort=newest&limit=200',
  ],
  '/api/suggest': ['?q=l', '?q=log', '?q='],
  '/api/chats': ['?limit=200&subagents=true&includeEmpty=true', '?q=login', '?sort=size'],
  '/api/projects': ['?limit=200'],
  '/api/stats': ['', '?bucket=month&project=shop'],
  '/api/tokens': ['', '?groupBy=chat', '?groupBy=model', '?groupBy=project'],
  '/api/losses': ['', '?limit=1'],
  '/api/commits': ['', '?repo=shop', '?repo=nobody'],
  '/api/archives': ['?limit=200'],
}

test.each(operations.filter(({ method, path }) => method === 'GET' && path !== '/api/events'))(
  'real answers of $method $path are as documented',
  async ({ method, path }) => {
    const ids = path.startsWith('/api/chats/')
      ? (await list('/api/chats?limit=200&subagents=true&includeEmpty=true')).map(({ id }) => id)
      : (await list('/api/projects?limit=200')).map(({ id }) => id)
    const paths = path.includes('{id}')
      ? [...ids, 'nobody'].map((id) => path.replace('{id}', encodeURIComponent(id)))
      : path.includes('{name}')
        ? [archive, 'nothing'].map((name) => path.replace('{name}', name))
        : (variants[path] ?? ['']).map((query) => `${path}${query}`)
    const more = path.endsWith('/messages')
      ? '?limit=200&includeOrphans=true'
      : path.endsWith('/find')
        ? '?q=login'
        : ''
    const faults = await Promise.all(
      paths.map(async (each) => faultsOf(method, path, await world.ask(method, `${each}${more}`))),
    )
    expect(faults.flat().slice(0, 10)).toEqual([])
  },
)

test('a match of a commit is documented', async () => {
  const { items } = (await (await world.ask('GET', '/api/commits?repo=shop')).json()) as {
    readonly items: readonly { readonly sha: string; readonly chats: readonly unknown[] }[]
  }
  expect(items[0]?.chats).toHaveLength(1)
  const response = await world.ask('GET', `/api/chats?commit=${items[0]?.sha}&repo=shop`)
  expect(response.status).toBe(200)
  expect(await faultsOf('GET', '/api/chats', response)).toEqual([])
})

test('real answers of POST are as documented', async () => {
  const posts: readonly (readonly [route: string, path: string, body: string, mediaType?: string])[] = [
    ['/api/tokens/import', '/api/tokens/import', USAGE_FILE, 'text/csv'],
    ['/api/tokens/import', '/api/tokens/import', 'no file', 'text/csv'],
    ['/api/tokens/import', '/api/tokens/import', '{}'],
    ['/api/archives/{name}/verify', `/api/archives/${archive}/verify`, '{}'],
    ['/api/archives/{name}/verify', '/api/archives/nothing/verify', '{}'],
    ['/api/archives/{name}/restore', `/api/archives/${archive}/restore`, '{}'],
    ['/api/purge', '/api/purge', '{"chats":["login"]}'],
    ['/api/purge', '/api/purge', '{"match":"session is read","dryRun":false}'],
    ['/api/purge', '/api/purge', '{}'],
    ['/api/archives', '/api/archives', '{"scope":{"project":"nope"}}'],
    ['/api/archives', '/api/archives', '{}', 'text/plain'],
    ['/api/hub/push', '/api/hub/push', '{"projects":["*"]}'],
    ['/api/hub/pull', '/api/hub/pull', '{}'],
    ['/api/sync', '/api/sync', '{"full":true}'],
    ['/api/sync', '/api/sync', '{"full":1}'],
  ]
  const answered: string[] = []
  for (const [route, path, body, mediaType] of posts) {
    const response = await world.ask('POST', path, body, mediaType)
    answered.push(`${response.status} ${route}`)
    expect(await faultsOf('POST', route, response)).toEqual([])
  }
  const succeeded = new Set(answered.filter((each) => each.startsWith('2')).map((each) => each.slice(4)))
  expect([...succeeded].toSorted()).toEqual([
    '/api/archives/{name}/restore',
    '/api/archives/{name}/verify',
    '/api/hub/pull',
    '/api/hub/push',
    '/api/purge',
    '/api/sync',
    '/api/tokens/import',
  ])
})

/** Mostly values that the document allows, some that it does not. */
function valueOf(name: string, schema: Schema): fc.Arbitrary<string> {
  const known = ['login', 'shop', 'edit_file', 'agent', '2026-03-01', '7d', 'UTC', 'Europe/Berlin', 'src/session.ts']
  const odd = fc.oneof(fc.constantFrom('', '%', "'", '-1', 'nobody', '"a', '(', 'x'.repeat(300)), fc.string())
  const right = (each: Schema): fc.Arbitrary<string> => {
    if (each.items !== undefined) return right(each.items)
    if (each.enum !== undefined) return fc.constantFrom(...each.enum)
    if (each.type === 'boolean') return fc.constantFrom('true', 'false')
    if (each.type === 'integer') {
      return fc.integer({ min: each.minimum ?? 0, max: Math.min(each.maximum ?? 10_000, 10_000) }).map(String)
    }
    if (name === 'from' || name === 'to') return fc.constantFrom('2026-02', '2026-03-01', 'yesterday', '7d')
    if (name === 'tz') return fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu')
    return fc.oneof(fc.constantFrom(...known), fc.string())
  }
  return fc.oneof({ weight: 9, arbitrary: right(schema) }, { weight: 1, arbitrary: odd })
}

interface RandomRequest {
  readonly method: string
  readonly route: string
  readonly path: string
  readonly body: string | null
  readonly mediaType: string
}

/** JSON of the keys that the document lists, and now and then another text. */
function bodyOf(operation: Operation): fc.Arbitrary<Pick<RandomRequest, 'body' | 'mediaType'>> {
  const [[mediaType, { schema }] = ['', { schema: {} as Schema }]] = Object.entries(
    operation.requestBody?.content ?? {},
  )
  if (mediaType === '') return fc.constant({ body: null, mediaType })
  const keys = Object.entries(schema.properties ?? {}).map(
    ([name, each]) => [name, fc.oneof({ weight: 9, arbitrary: jsonOf(name, each) }, fc.jsonValue())] as const,
  )
  const right = fc.record(Object.fromEntries(keys), { requiredKeys: [] }).map((value) => JSON.stringify(value))
  const text = mediaType === 'text/csv' ? fc.constantFrom(USAGE_FILE, USAGE_FILE.slice(0, 200), 'Date\n') : right
  return fc
    .tuple(fc.oneof({ weight: 9, arbitrary: text }, fc.string()), fc.integer({ min: 0, max: 19 }))
    .map(([body, at]) => ({ body, mediaType: at === 0 ? 'text/plain' : mediaType }))
}

function jsonOf(name: string, schema: Schema): fc.Arbitrary<unknown> {
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'number') return fc.double({ min: 0, max: 1, noNaN: true })
  if (name === 'scope') return fc.constantFrom(null, 'login', { project: 'shop' }, { odd: 1 })
  if (name === 'map') return fc.constantFrom({}, { '/home/eve': '/tmp/eve' }, { relative: '/tmp' })
  const one = fc.constantFrom('login', 'map-1', 'shop', '2026-02', 'UTC', 'session is read', '/tmp', '')
  return schema.type === 'array' ? fc.array(one, { maxLength: 2 }) : one
}

const requests: fc.Arbitrary<RandomRequest> = fc.oneof(
  ...operations
    .filter(({ path }) => path !== '/api/events')
    .map(({ method, path, operation }) => {
      const queried = (operation.parameters ?? []).filter((each) => each.in === 'query')
      const ids = fc.constantFrom('login', 'map-1', archive, 'nobody', '%F0', '..')
      const query = fc.tuple(
        ...queried.map(({ name, schema }) =>
          fc.option(valueOf(name, schema), { freq: 3 }).map((value): [string, string | null] => [name, value]),
        ),
      )
      return fc.tuple(ids, query, bodyOf(operation)).map(([id, values, body]) => {
        const given = values.filter((each): each is [string, string] => each[1] !== null)
        const named = path.replace(/\{\w+\}/, id === '..' ? '%2E%2E%2F' : id)
        return { method, route: path, path: `${named}?${new URLSearchParams(given).toString()}`, ...body }
      })
    }),
)

// The last test, because some of these requests purge and restore.
test('random requests from the document give documented answers only', { timeout: 120_000 }, async () => {
  const statuses = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, route, path, body, mediaType }) => {
      const response = await world.ask(method, path, body ?? undefined, mediaType)
      const key = `${method} ${response.status}`
      statuses.set(key, (statuses.get(key) ?? 0) + 1)
      expect(await faultsOf(method, route, response)).toEqual([])
    }),
    { numRuns: 500, seed: 26 },
  )
  expect(world.faults).toEqual([])
  expect(statuses.get('GET 200') ?? 0).toBeGreaterThan(75)
  const done = (statuses.get('POST 200') ?? 0) + (statuses.get('POST 202') ?? 0)
  expect(done).toBeGreaterThan(15)
  expect([...statuses.keys()].filter((each) => /50\d/.test(each))).toEqual([])
  console.info(`random requests: ${[...statuses].map(([key, times]) => `${times} × ${key}`).join(', ')}`)
})
