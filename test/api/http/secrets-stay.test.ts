import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Masking } from '../../../src/api/export/redact/masking.ts'
import { createMcpServer } from '../../../src/api/mcp/server.ts'
import { queryOf } from '../../../src/api/mcp/source.ts'
import { run } from '../../cli/fake-world.ts'
import { harmless, inEachPart, leaksIn, secretKinds, secretTexts } from '../../helpers/secret-corpus.ts'
import { bodyOf, createTestApi, type TestApi } from './test-api.ts'

const titled = [...secretKinds].map((kind) => secretTexts.find((each) => each.kind === kind)?.text ?? '')

let api: TestApi
let client: Client

beforeAll(async () => {
  api = createTestApi()
  const chat = api.mirror.addChat({ id: 'corpus', messageCount: secretTexts.length })
  for (const [position, { text }] of secretTexts.entries()) {
    api.mirror.addMessage(chat, { id: `m${position}`, position, parts: inEachPart(text) })
  }
  for (const [at, title] of titled.entries()) api.mirror.addChat({ id: `titled-${at}`, title, messageCount: 1 })
  client = new Client({ name: 'test', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const source = {
    version: '1.2.3',
    now: () => Date.now(),
    get: async (path: string, query = {}) => bodyOf(await api.ask(`${path}?${queryOf(query).toString()}`)),
  }
  await createMcpServer(source, { isRedacted: true }).connect(theirs)
  await client.connect(ours)
})
afterAll(async () => {
  await client.close()
  api.dispose()
})

test('the corpus has more than 300 kinds, and each of its texts says what must not leave', () => {
  expect(secretKinds.size).toBeGreaterThan(300)
  expect(secretTexts.filter(({ secrets }) => secrets.length === 0 || secrets.includes(''))).toEqual([])
  expect(leaksIn(secretTexts.map(({ text }) => text).join('\n')).length).toBeGreaterThan(secretTexts.length / 2)
})

test.each(['markdown', 'json', 'jsonl', 'html'])('no kind of secret leaves by an export as %s', async (as) => {
  const text = await (await api.ask(`/api/chats/corpus/export?as=${as}&redact=true`)).text()
  expect(leaksIn(text)).toEqual([])
  // Only the secrets were taken.
  expect(text.match(/They said:/g)).toHaveLength(secretTexts.length)
  expect(text.slice(-20_000)).toMatch(/github-token.*named-secret.*private-key.*No rule finds every secret\./s)
})

test('no kind of secret leaves by the title of an export, or by the name of its file', async () => {
  const outputs: string[] = []
  for (const at of titled.keys()) {
    const response = await api.ask(`/api/chats/titled-${at}/export?as=json&redact=true`)
    outputs.push(response.headers.get('content-disposition') ?? '', await response.text())
  }
  expect(outputs).toHaveLength(2 * secretKinds.size)
  expect(leaksIn(outputs.join('\n'))).toEqual([])
})

test('no kind of secret leaves by the command line', async () => {
  const { exitCode, out, err } = await run(['export', 'corpus', '--redact'], async ({ path, query }) => {
    if (path === '/api/chats') return (await api.ask(`${path}?${query}`)).json()
    return [await (await api.ask(`/api/chats/corpus/export?${query}`)).text()]
  })
  expect([exitCode, leaksIn(out + err)]).toEqual([0, []])
  expect(err).toMatch(/\d+ named-secret.*\. No rule finds every secret\.\n$/)
})

test('no kind of secret leaves by an answer of MCP', { timeout: 120_000 }, async () => {
  const answers: string[] = []
  const readAll = async (name: string, args: Record<string, unknown>): Promise<void> => {
    for (let next: { name: string; args: Record<string, unknown> } | null = { name, args }; next !== null;) {
      const { content } = await client.callTool({ name: next.name, arguments: next.args })
      const text = (content as { text: string }[])[0]?.text ?? ''
      answers.push(text)
      const call = /Next: (\w+) (\{.*\})$/m.exec(text)
      next = call === null ? null : { name: call[1] ?? '', args: JSON.parse(call[2] ?? '') as Record<string, unknown> }
    }
  }
  await readAll('read_messages', { chat: 'corpus', offset: 0, parts: ['text', 'thinking', 'code', 'tool'] })
  await readAll('list_chats', { limit: 50 })
  for (const word of ['password', 'sesame', 'curl', 'SHOP_A']) await readAll('search_chats', { query: word })
  const text = answers.join('\n')
  // One is cut where a page ends.
  expect(text.match(/They said:/g)?.length).toBeGreaterThan(secretTexts.length * 0.8)
  expect(leaksIn(text)).toEqual([])
})

test('a secret in the input of a tool is known by the key, the flag or the name beside it', () => {
  const input = {
    args: ['deploy', '--password', 'opensesame', '--verbose'],
    env: [{ name: 'DB_PASSWORD', value: 'opensesame' }],
    headers: {
      Cookie: 'lang=en; session=opensesame',
      Authorization: 'token opensesame',
      'X-Vault-Token': 'opensesame-root',
    },
    passwords: ['opensesame'],
    db: { pass: 'opensesame', user: 'ada', port: '5432' },
  }
  const masked = JSON.stringify(new Masking().maskAtOnce(input))
  expect(masked).not.toContain('opensesame')
  for (const kept of ['deploy', '--password', '--verbose', 'DB_PASSWORD', 'token', 'ada', '5432'])
    expect(masked).toContain(kept)
})

test('at most 5 of more than 200 harmless lines are masked', () => {
  expect(harmless.length).toBeGreaterThan(200)
  const changed = [...harmless, ...harmless.map((text) => JSON.stringify({ text }))].filter(
    (text) => new Masking().maskAtOnce(text) !== text,
  )
  expect(changed.slice(5)).toEqual([])
})
