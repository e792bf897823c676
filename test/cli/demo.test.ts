import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cursordexBin, Cursordex, getJson, untilReady } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'

// What README and docs promise, asked of the demo.

const root = fileURLToPath(new URL('../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'cursordex-place-'))
const startedAtMs = Date.now()
const DAY_MS = 86_400_000
let demo: Cursordex
let url: string
const get = <Answer>(path: string): Promise<Answer> => getJson<Answer>(url, path)

interface List<Item> {
  readonly total: number
  readonly items: readonly Item[]
}

interface Chat {
  readonly id: string
  readonly title: string
  readonly createdAt: string
  readonly project: { readonly name: string } | null
  readonly parentChatId: string | null
  readonly deletedInCursor: boolean
}

interface Message {
  readonly createdAt: string
  readonly isOrphan: boolean
  readonly parts: readonly { readonly kind: string; readonly status?: string; readonly text?: string | null }[]
}

interface Loss {
  readonly kind: string
  readonly chatId: string
}

beforeAll(async () => {
  demo = new Cursordex(['demo'], { env: { TMPDIR: place, TEMP: place, TMP: place } })
  url = await demo.listening()
  await untilReady(url)
  await waitUntil('two losses', async () => (await get<List<Loss>>('/api/losses')).total === 2)
})

afterAll(async () => {
  await demo.stop()
  rmSync(place, { recursive: true, force: true })
})

const dataDir = (): string =>
  join(place, readdirSync(place).find((name) => name.startsWith('cursordex-demo')) ?? '', 'data')

const documents = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]
const lines = documents
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) => readFileSync(join(root, path), 'utf8').match(/^(?:cursordex search|curl) .*$/gm) ?? [])
const examples = [...new Set(lines.map((line) => line.replace(/ +#.*/, '')))]

test.each(examples.filter((line) => !line.includes('-X') && !line.includes('-N')))(
  '%s finds something in the demo',
  async (line) => {
    const shown = line.startsWith('curl')
      ? line.replace('http://127.0.0.1:4870', url).replace('curl', 'curl --silent --fail')
      : line.replace('cursordex', `'${process.execPath}' '${cursordexBin}'`).concat(` --json --data-dir ${dataDir()}`)
    // Not synchronous: meanwhile the server ends connections that rest, and `fetch` must notice it.
    const { stdout } = await promisify(execFile)('sh', ['-c', shown], { encoding: 'utf8' })
    const { total, items } = JSON.parse(stdout) as List<unknown>
    expect(items.length).toBeGreaterThan(0)
    expect(total).toBeGreaterThan(0)
  },
)

test('the other requests of the docs are answered as well', async () => {
  expect(examples.filter((line) => line.startsWith('cursordex')).length).toBeGreaterThan(7)
  const addresses = examples.map((line) => /127\.0\.0\.1:4870(\/[^\s']*)/.exec(line)?.[1])
  expect(addresses).toEqual(expect.arrayContaining(['/api/sync', '/api/events']))
  expect((await fetch(`${url}/api/sync`, { method: 'POST' })).status).toBe(200)
  const stop = new AbortController()
  const events = await fetch(`${url}/api/events`, { signal: stop.signal })
  const first = await events.body?.getReader().read()
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^event: status\n/)
  stop.abort()
})

test('a chat and a message are lost, and the lost chat is still there', async () => {
  const { items } = await get<List<Loss>>('/api/losses')
  expect(items.map(({ kind }) => kind).toSorted()).toEqual(['chat', 'message'])
  const lost = items.find(({ kind }) => kind === 'chat')?.chatId ?? ''
  expect((await get<List<Message>>(`/api/chats/${lost}/messages`)).total).toBeGreaterThan(3)
})

test('recorded tokens have a price', async () => {
  const { stdout } = await new Cursordex(['tokens', '--group-by', 'model', '--data-dir', dataDir()]).ended
  expect(stdout).toMatch(/^claude-3\.[57]-sonnet\t.*\$\d+\.\d\d/m)
  expect(stdout).not.toContain('are not priced: the price list')
})

test.skipIf(spawnSync('git', ['--version']).status !== 0)('commits of a real repository have their chats', async () => {
  const { stdout } = await new Cursordex(['commits', '--repo', 'tide-tables', '--data-dir', dataDir()]).ended
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/添加 isHigh\thigh\t添加高潮判断函数/),
    expect.stringMatching(/Use the real period of a tide\thigh\tTides drift by an hour a day/),
    expect.stringContaining('First version\t-'),
  ])
})

test('a year of chats has projects of every kind, a subagent, deletions, and every part and ending of a call', async () => {
  const { items: projects } = await get<List<{ path: string; remote: object | null }>>('/api/projects')
  expect(projects.map(({ remote }) => remote)).toContainEqual({ kind: 'ssh', host: 'build-01' })
  expect(projects.filter(({ path }) => path.endsWith('.code-workspace'))).toHaveLength(1)
  const { items: chats } = await get<List<Chat>>('/api/chats?limit=200&subagents=true')
  const child = chats.find(({ parentChatId }) => parentChatId !== null)
  expect(chats.find(({ id }) => id === child?.parentChatId)?.title).toBe('Audit of all money arithmetic')
  expect(chats.filter(({ deletedInCursor }) => deletedInCursor)).toHaveLength(2)
  const ages = chats.map(({ createdAt }) => (Date.now() - Date.parse(createdAt)) / DAY_MS)
  expect(Math.min(...ages)).toBeGreaterThan(0)
  expect(Math.max(...ages)).toBeGreaterThan(345)
  expect(Math.max(...ages)).toBeLessThan(365)
  const threads = chats.map(({ id }) => get<List<Message>>(`/api/chats/${id}/messages?limit=200&includeOrphans=true`))
  const messages = (await Promise.all(threads)).flatMap(({ items }) => items)
  const parts = messages.flatMap((message) => message.parts)
  const kinds = ['text', 'thinking', 'code', 'tool', 'attachment', 'todo', 'error']
  expect(new Set(parts.map(({ kind }) => kind))).toEqual(new Set(kinds))
  const endings = parts.flatMap(({ kind, status }) => (kind === 'tool' ? [status] : []))
  expect(endings).toEqual(expect.arrayContaining(['completed', 'error', 'rejected', 'cancelled']))
  expect(messages.filter(({ isOrphan }) => isOrphan).length).toBeGreaterThan(0)
  expect(JSON.stringify([chats, messages])).not.toMatch(/209[56]-|packed-demo|TICKET|"39\d{11}"/)
  expect(await get('/api/status')).toMatchObject({ issues: {} })
})

test.each([
  ['Temperaturfühler', 'thermostat'],
  ['数据库', 'ledger-api'],
  ['同期', 'field-notes'],
  ['로그인', 'atlas'],
  ['goroutine', 'fleet-gateway'],
])('%s is found in %s', async (words, project) => {
  const { items } = await get<List<Chat>>(`/api/search?q=${encodeURIComponent(words)}`)
  expect(items.map((hit) => hit.project?.name)).toContain(project)
})

test('an agent is at work: a new chat is found, its answers grow, and its calls end', async () => {
  const { items } = await waitUntil('its chat', async () => {
    const found = await get<List<Chat>>('/api/chats?q=NOTES-2001&limit=1')
    return found.total > 0 ? found : null
  })
  const [first] = items
  expect(Date.parse(first?.createdAt ?? '')).toBeGreaterThan(startedAtMs)
  const call = await waitUntil('the end of its first call', async () => {
    const thread = await get<List<Message>>(`/api/chats/${first?.id}/messages`)
    return thread.items[1]?.parts.find(({ status }) => status === 'completed')
  })
  expect(call.kind).toBe('tool')
  const seen: string[] = []
  const grown = await waitUntil('an answer in pieces', async () => {
    const newest = await get<List<Chat>>('/api/chats?sort=newest&limit=1')
    const thread = await get<List<Message>>(`/api/chats/${newest.items[0]?.id}/messages`)
    const text = thread.items.at(-1)?.parts.find(({ kind }) => kind === 'text')?.text ?? ''
    const former = seen.at(-1) ?? ''
    if (text !== former) seen.push(text)
    return former.length > 20 && text !== former && text.startsWith(former)
  })
  expect(grown).toBe(true)
})
