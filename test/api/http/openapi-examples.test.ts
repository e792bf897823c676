import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentedRoutes } from '../../../src/api/http/documented-routes.ts'
import { openApiDocument } from '../../../src/api/http/openapi.ts'
import { openApiExamples } from '../../../src/api/http/openapi-examples.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { ApiWorld, USAGE_FILE } from './api-world.ts'

const FILE = fileURLToPath(new URL('../../../docs/openapi-examples.json', import.meta.url))

let world: ApiWorld
beforeAll(() => {
  world = new ApiWorld()
})
afterAll(() => world?.remove())

/** What depends on the machine or the moment, by the name of its field. */
const fixed: Readonly<Record<string, unknown>> = {
  tookMs: 4,
  bytes: 229_376,
  ftsBytes: 40_960,
  textBytes: 1024,
  diskPerTextByte: 2.5,
  sizeBytes: 512,
  asOf: '2026-02-20',
  cents: 0.33,
  score: 0.9,
}
const ARCHIVE = '20260301T113000Z-manual'

const ids = new Map<string, string>()
function idOf(hash: string): string {
  const id = ids.get(hash) ?? String(ids.size + 1).padStart(16, '0')
  ids.set(hash, id)
  return id
}

/** @param archive the name of the real archive, made at the present time */
function settled(value: unknown, archive: string, key = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => settled(each, archive))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, settled(each, archive, name)]))
  }
  if (key in fixed && typeof value === 'number') return fixed[key]
  if (key === 'sha256' && typeof value === 'string') return 'f'.repeat(64)
  if (typeof value !== 'string') return value
  if (key === 'asOf') return fixed[key]
  // Ids of sources and projects are hashes of their paths.
  if (/^[\da-f]{16}$/.test(value)) return idOf(value)
  if (/^\d{4}-\d\d-\d\dT/.test(value) && !value.startsWith('2026-03-01')) return '2026-03-01T11:30:00.000Z'
  return value
    .replaceAll(archive, ARCHIVE)
    .replaceAll(encodeURI(world.home.root), '/home/ada')
    .replaceAll(world.home.root, '/home/ada')
    .replaceAll(world.indexer.folder, '/home/ada/.local/share/cursordex')
}

const bodies: Readonly<Record<string, readonly [body: string, mediaType?: string]>> = {
  'POST /api/tokens/import': [USAGE_FILE, 'text/csv'],
  'POST /api/archives/:name/verify': ['{}'],
  'POST /api/archives/:name/restore': ['{}'],
  'POST /api/purge': ['{"chats":["login"]}'],
  'POST /api/hub/push': ['{}'],
  'POST /api/hub/pull': ['{}'],
  'POST /api/sync': ['{}'],
}
const queries: Readonly<Record<string, string>> = {
  'GET /api/search': '?q=login&facets=role',
  'GET /api/suggest': '?q=log',
  'GET /api/commits': '?repo=shop',
}

test('the examples in the document are real answers', async () => {
  const made = (await (await world.ask('POST', '/api/archives', '{}')).json()) as { readonly name: string }
  const read = async () => (await (await world.ask('GET', `/api/archives/${made.name}`)).json()) as { state: string }
  await waitUntil('the archive is made', async () => (await read()).state === 'verified')
  const { items } = (await (await world.ask('GET', '/api/projects')).json()) as { items: { id: string }[] }
  const answers: Record<string, unknown> = {}
  for (const name of Object.keys(documentedRoutes)) {
    if (name === 'GET /api/events' || name === 'POST /api/archives') continue
    const [method = '', route = ''] = name.split(' ')
    const id = route.startsWith('/api/projects') ? (items[0]?.id ?? '') : 'login'
    const path = `${route.replace(':id', id).replace(':name', made.name)}${queries[name] ?? ''}`
    const response = await world.ask(method, path, ...(bodies[name] ?? []))
    expect([name, response.status]).toEqual([name, 200])
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    // Of the metrics the first one is enough.
    const shown = route === '/metrics' ? text.split('\n').slice(0, 3).join('\n') : text
    answers[name] = settled(isJson ? JSON.parse(text) : shown, made.name)
  }
  answers['POST /api/archives'] = settled(made, made.name)
  answers['GET /api/events'] = 'event: message\ndata: {"chatId":"login","id":"answer"}\n\n'
  if (process.env['UPDATE_EXAMPLES'] === '1') writeFileSync(FILE, JSON.stringify(answers))
  // If answers changed: npm run openapi:examples
  expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(answers)
})

test('every route of the document has an example', () => {
  const text = JSON.stringify(openApiDocument('1.2.3', openApiExamples))
  expect(Object.keys(openApiExamples).toSorted()).toEqual(Object.keys(documentedRoutes).toSorted())
  expect(text).not.toContain(world.home.root)
  expect(readFileSync(FILE, 'utf8')).not.toMatch(/\/tmp\/|\/root\//)
})
