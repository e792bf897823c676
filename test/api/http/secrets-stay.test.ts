import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../cli/fake-world.ts'
import { callTool, connectAgent, readAll } from '../../helpers/mcp-client.ts'
import { inEachPart, leaksIn, secretKinds, secretTexts } from '../../helpers/secret-corpus.ts'
import { createTestApi, type TestApi } from './test-api.ts'

const titled = [...secretKinds].map((kind) => secretTexts.find((each) => each.kind === kind)?.text ?? '')

let api: TestApi
let client: Client

beforeAll(async () => {
  api = createTestApi()
  const chat = api.mirror.addChat({ id: 'corpus', messageCount: secretTexts.length })
  for (const [position, { text }] of secretTexts.entries()) {
    api.mirror.addMessage(chat, { id: `m${position}`, position, parts: inEachPart(text) })
  }
  const filler = 'a word or two about the weather '.repeat(2)
  const cut = api.mirror.addChat({ id: 'cut', messageCount: titled.length })
  for (const [at, title] of titled.entries()) {
    api.mirror.addChat({ id: `titled-${at}`, title, messageCount: 1 })
    // A passage of a hit ends within it.
    const text = `${'x '.repeat(60)}plum ${filler}${title} ${filler}`
    api.mirror.addMessage(cut, { id: `cut${at}`, position: at, parts: [{ kind: 'text', text }] })
  }
  client = await connectAgent((path, init) => api.ask(path, init))
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
  expect(out).toMatch(/\d+ named-secret.*\. No rule finds every secret\./)
})

test('no kind of secret leaves by an answer of MCP', { timeout: 120_000 }, async () => {
  const answers: string[] = []
  const read = async (name: string, args: Record<string, unknown>): Promise<void> =>
    void answers.push(...(await readAll(client, name, args)))
  await read('read_messages', { chat: 'corpus', offset: 0, parts: ['text', 'thinking', 'code', 'tool'] })
  await read('list_chats', { limit: 50 })
  for (const word of ['password', 'sesame', 'curl', 'SHOP_A']) await read('search_chats', { query: word })
  await read('search_chats', { query: 'plum', limit: 30 })
  await read('get_usage', { group_by: 'chat' })
  for (const [at, { secrets }] of secretTexts.entries()) {
    if (at % 20 !== 0) continue
    const piece = secrets[0]?.slice(0, 6) ?? ''
    for (const query of [`${piece}*`, `how did we ${piece} the walnut`]) await read('search_chats', { query })
    const within = { chat: 'corpus', around: `m${at}`, from_char: 8, before: 0, after: 0 }
    answers.push((await callTool(client, 'read_messages', within)).text)
  }
  const text = answers.join('\n')
  // One is cut where a page ends.
  expect(text.match(/They said:/g)?.length).toBeGreaterThan(secretTexts.length * 0.8)
  expect(leaksIn(text)).toEqual([])
})
