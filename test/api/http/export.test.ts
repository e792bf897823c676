import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { HEADER_CSP } from '../../../src/api/export/formats.ts'
import { textStream } from '../../../src/api/http/routes/chats.ts'
import { leastOfThree, startCpuClock } from '../../helpers/cpu-time.ts'
import { hostileParts, hostileTexts } from '../export/hostile-chat.ts'
import { type TestApi, bodyOf, createTestApi } from './test-api.ts'

const HOSTILE_ID = 'a/b\n%41 "x"'
const NOW_MS = Date.UTC(2026, 1, 20)

let api: TestApi
beforeAll(() => {
  api = createTestApi({ now: () => NOW_MS })
  const { mirror } = api
  mirror.writer.transaction(() => {
    const long = mirror.addChat({ id: 'long', title: 'Fix the login', messageCount: 300 })
    for (let position = 0; position < 300; position += 1) {
      const text = `Text ${position} ${'lorem '.repeat(200)}`
      mirror.addMessage(long, { id: `m${position}`, position, parts: [{ kind: 'text', text }] })
    }
    mirror.addMessage(long, { id: 'stray', isOrphan: true, parts: [{ kind: 'text', text: 'A stray one.' }] })
    const hostile = mirror.addChat({ id: HOSTILE_ID, title: hostileTexts.join('\n') })
    mirror.addMessage(hostile, { id: 'm', parts: hostileParts })
    mirror.addChat({ id: 'empty', title: '漢字', messageCount: 0 })
  })()
})
afterAll(() => api.dispose())

const pathOf = (id: string, query = '') => `/api/chats/${encodeURIComponent(id)}/export${query}`

async function messagesOf(id: string, query = ''): Promise<unknown[]> {
  const items: unknown[] = []
  for (let offset = 0; ; offset += 200) {
    const path = `/api/chats/${encodeURIComponent(id)}/messages?limit=200&offset=${offset}${query}`
    const page = await bodyOf(await api.ask(path))
    items.push(...(page['items'] as unknown[]))
    if (items.length >= Number(page['total'])) return items
  }
}

describe.each(['long', HOSTILE_ID, 'empty'])('the chat %j', (id) => {
  it.each(['', '&includeOrphans=true'])(
    'has the same content in JSON, in JSONL and in its list of messages%s',
    async (orphans) => {
      const { files, toolCounts, tokens, children, alternatives, ...chat } = await bodyOf(
        await api.ask(`/api/chats/${encodeURIComponent(id)}`),
      )
      const messages = await messagesOf(id, orphans)
      const stamp = { version: '1.2.3', exportedAt: '2026-02-20T00:00:00.000Z' }
      expect(await bodyOf(await api.ask(pathOf(id, `?as=json${orphans}`)))).toEqual({ ...stamp, chat, messages })
      const lines = (await (await api.ask(pathOf(id, `?as=jsonl${orphans}`))).text()).trimEnd().split('\n')
      const [head, ...rest] = lines.map((line) => JSON.parse(line) as unknown)
      expect(head).toEqual({ kind: 'chat', ...stamp, ...chat })
      expect(rest).toEqual(messages)
      expect([files, toolCounts, children, alternatives].every(Array.isArray)).toBe(true)
      expect(tokens).toHaveProperty('estimated')
    },
  )

  it.each([
    ['', 'text/markdown; charset=utf-8', 'md'],
    ['?as=markdown', 'text/markdown; charset=utf-8', 'md'],
    ['?as=json', 'application/json', 'json'],
    ['?as=jsonl', 'application/jsonl', 'jsonl'],
    ['?as=html', 'text/html; charset=utf-8', 'html'],
  ])('export%s gives a file with a safe name, by GET and by HEAD', async (query, contentType, extension) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await api.ask(pathOf(id, query), { method })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe(contentType)
      const disposition = response.headers.get('content-disposition') ?? ''
      expect(disposition).toMatch(/^attachment; filename="[A-Za-z0-9_-]{1,40}-[0-9a-f]{8}\.[a-z]+"$/u)
      expect(disposition.endsWith(`.${extension}"`)).toBe(true)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('cache-control')).toBe('no-store')
      const policy = extension === 'html' ? HEADER_CSP : "default-src 'none'; frame-ancestors 'none'"
      expect(response.headers.get('content-security-policy')).toBe(policy)
      expect((await response.text()) === '').toBe(method === 'HEAD')
    }
  })
})

it.each(['markdown', 'html'])('a thread of 300 messages is complete and in order as %s', async (as) => {
  const text = await (await api.ask(pathOf('long', `?as=${as}`))).text()
  const found = [...text.matchAll(/Text (\d+) lorem/gu)].map(([, number]) => Number(number))
  expect(found).toEqual(Array.from({ length: 300 }, (_, index) => index))
})

it.each(['markdown', 'json', 'jsonl', 'html'])('%s contains orphans only on request', async (as) => {
  const without = await (await api.ask(pathOf('long', `?as=${as}&includeOrphans=false`))).text()
  const withThem = await (await api.ask(pathOf('long', `?as=${as}&includeOrphans=true`))).text()
  expect(without).not.toContain('A stray one.')
  expect(withThem.indexOf('A stray one.')).toBeGreaterThan(withThem.indexOf('Text 299 '))
})

it.each([
  ['another format', '?as=pdf', 400, 'bad-parameter', '"as" must be markdown, json, jsonl or html.'],
  ['two formats', '?as=json&as=html', 400, 'bad-parameter', '"as" must be given once.'],
  ['a bad value for redact', '?redact=some', 400, 'bad-parameter', '"redact" must be true or false.'],
  ['an unknown parameter', '?format=json', 400, 'unknown-parameter', '"format" is not a known parameter'],
])('%s is refused by name', async (_, query, status, code, detail) => {
  const response = await api.ask(pathOf('long', query))
  expect(response.status).toBe(status)
  expect(response.headers.get('content-disposition')).toBeNull()
  const body = await bodyOf(response)
  expect(body['code']).toBe(code)
  expect(body['detail']).toContain(detail)
})

describe('while an export is sent', () => {
  it('removing the chat ends the answer early and is reported', async () => {
    const own = createTestApi()
    const chat = own.mirror.addChat({ id: 'gone' })
    const text = 'x'.repeat(20_000)
    own.mirror.writer.transaction(() => {
      for (let position = 0; position < 200; position += 1) {
        own.mirror.addMessage(chat, { id: `m${position}`, position, parts: [{ kind: 'text', text }] })
      }
    })()
    const { body } = await own.ask(pathOf('gone'))
    const reader = body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(1000)
    own.mirror.writer.exec(`delete from messages; delete from chats`)
    const rest = async () => {
      while ((await reader?.read())?.done === false);
    }
    await expect(rest()).rejects.toMatchObject({ code: 'chat-gone' })
    expect(own.faults).toMatchObject([{ code: 'chat-gone' }])
    own.dispose()
  })

  it('a chat of 60,000 messages takes about 15 times as long as one of 4,000, not 225 times', async () => {
    const own = createTestApi()
    own.mirror.writer.transaction(() => {
      for (const count of [4000, 60_000]) {
        const chat = own.mirror.addChat({ id: `of ${count}`, messageCount: count })
        for (let at = 0; at < count; at += 1) own.mirror.addMessage(chat, { id: `${count} ${at}`, position: at })
      }
    })()
    const cpuMsOf = async (count: number) => {
      const elapsed = startCpuClock()
      const lines = (await (await own.ask(pathOf(`of ${count}`, '?as=jsonl'))).text()).split('\n')
      expect(lines).toHaveLength(count + 2)
      return elapsed()
    }
    await cpuMsOf(4000)
    const shortMs = await cpuMsOf(4000)
    expect(await leastOfThree(35 * shortMs, () => cpuMsOf(60_000))).toBeLessThan(35 * shortMs)
    own.dispose()
  })

  it('other requests are answered between two pieces, even if the client reads fast', async () => {
    let turns = 0
    const done = new AbortController()
    const counting = (async () => {
      for (; !done.signal.aborted; turns += 1) await nextTurn()
    })()
    const stretches = Array.from({ length: 2000 }, () => 'x'.repeat(5000))
    let pieces = 0
    let length = 0
    for await (const piece of textStream(stretches, () => undefined)) {
      pieces += 1
      length += piece.length
    }
    done.abort()
    await counting
    expect(length).toBe(10_000_000)
    expect(pieces).toBeGreaterThan(20)
    expect(turns).toBeGreaterThanOrEqual(pieces - 1)
  })

  it('no more text is made than the client reads, and a disconnect ends it', async () => {
    let made = 0
    const ended = new AbortController()
    const endless = (function* () {
      try {
        for (;;) {
          made += 1
          yield 'x'.repeat(100_000)
        }
      } finally {
        ended.abort()
      }
    })()
    const reader = textStream(endless, () => undefined).getReader()
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    await reader.read()
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    expect(made).toBeLessThan(20)
    await reader.cancel()
    const endMs = Date.now() + 5000
    while (!ended.signal.aborted && Date.now() < endMs) await nextTurn()
    expect(ended.signal.aborted).toBe(true)
  })
})

test('the error of a text that ends early does not show any of the chat in the log', async () => {
  const faults: unknown[] = []
  const fault = new SyntaxError('"walnut" is not valid JSON')
  const stretches = function* (): Generator<string> {
    yield 'begun'
    throw fault
  }
  const response = new Response(textStream(stretches(), (error) => faults.push(error)))
  await expect(response.text()).rejects.toThrow(/^the text ended early$/)
  expect(faults).toEqual([fault])
})
