import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { countLosses, findLosses } from '../../../src/api/queries/sources/list-losses.ts'
import { bodyOf, createTestApi, type TestApi } from './test-api.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'

let api: TestApi
let shop: number

beforeEach(() => {
  api = createTestApi({ timeZone: 'Europe/Berlin' })
  shop = api.mirror.addProject('shop')
})
afterEach(() => api.dispose())

const at = (iso: string): number => Date.parse(iso)

function lose(chat: number, messageId: string | null, iso: string): void {
  const kind = messageId === null ? 'chat' : 'message'
  api.mirror.insert('losses', { chat, kind, message_id: messageId ?? '', at: at(iso) })
}

function loseThree(): void {
  const talk = api.mirror.addChat({ id: 'talk', title: 'Login', project: shop })
  const other = api.mirror.addChat({ id: 'other/:é', title: 'Other' })
  lose(talk, 'm1', '2026-03-01T22:59:59.999Z')
  lose(talk, 'm2', '2026-03-01T23:00:00.000Z')
  lose(other, null, '2026-03-02T23:00:00.000Z')
}

async function namesOf(path: string): Promise<unknown> {
  const body = await bodyOf(await api.ask(path))
  return (body['items'] as { chatId: string; messageId: string | null }[]).map(({ chatId, messageId }) =>
    messageId === null ? chatId : `${chatId} ${messageId}`,
  )
}

it('lists what was lost, the last noticed first', async () => {
  expect(await bodyOf(await api.ask('/api/losses'))).toEqual({ items: [], total: 0, limit: 20, offset: 0 })
  loseThree()
  expect(await bodyOf(await api.ask('/api/losses?limit=2'))).toEqual({
    items: [
      {
        at: '2026-03-02T23:00:00.000Z',
        kind: 'chat',
        chatId: 'other/:é',
        messageId: null,
        project: null,
        title: 'Other',
      },
      {
        at: '2026-03-01T23:00:00.000Z',
        kind: 'message',
        chatId: 'talk',
        messageId: 'm2',
        project: { id: 'shop', name: 'shop' },
        title: 'Login',
      },
    ],
    total: 3,
    limit: 2,
    offset: 0,
  })
  expect(await namesOf('/api/losses?limit=2&offset=2')).toEqual(['talk m1'])
})

describe('a period', () => {
  beforeEach(loseThree)

  it.each([
    ['from=2026-03-02', ['other/:é', 'talk m2']],
    ['to=2026-03-02', ['talk m1']],
    ['from=2026-03-02&to=2026-03-03', ['talk m2']],
    ['from=2026-03-02&tz=UTC', ['other/:é']],
    ['from=2026-03-01T23:00:00.000Z&to=2026-03-02T23:00:00.000Z', ['talk m2']],
    ['from=2026-03-04', []],
  ])('%s', async (period, names) => {
    expect(await namesOf(`/api/losses?${period}`)).toEqual(names)
    expect(await bodyOf(await api.ask(`/api/losses?${period}`))).toMatchObject({ total: names.length })
  })
})

it('the project filter takes a name, an id or a path', async () => {
  loseThree()
  for (const project of ['shop', '/home/ada/shop']) {
    const path = `/api/losses?project=${encodeURIComponent(project)}`
    expect(await namesOf(path)).toEqual(['talk m2', 'talk m1'])
    expect(await bodyOf(await api.ask(path))).toMatchObject({ total: 2 })
  }
  expect(await bodyOf(await api.ask('/api/losses?project=nobody'))).toMatchObject({ items: [], total: 0 })
})

it.each([
  ['from=2026-02-30', ['from']],
  ['from=x&to=y', ['from', 'to']],
  ['tz=Mars/Base', ['tz']],
  ['limit=0', ['limit']],
  ['limit=201', ['limit']],
  ['offset=-1', ['offset']],
  ['project=', ['project']],
  ['kind=chat', ['kind']],
  ['from=2026-01-01&from=2026-01-02', ['from']],
])('%s is a 400 that names the wrong parameter', async (query, names) => {
  const response = await api.ask(`/api/losses?${query}`)
  expect(response.status).toBe(400)
  const { errors } = (await bodyOf(response)) as { errors: { name: string }[] }
  expect(errors.map(({ name }) => name)).toEqual(names)
})

it('uses indexes: no table is scanned, and only the page is sorted', () => {
  const values = { fromMs: 0, toMs: 9, projects: '[1]', limit: 20, offset: 0 }
  const planOf = (sql: string): string[] =>
    api.mirror.reader
      .prepare<[object], { detail: string }>(`explain query plan ${sql}`)
      .all(values)
      .map(({ detail }) => detail)
  for (const sql of [findLosses(false, false), countLosses(false, false)]) {
    const first = planOf(sql).find((line) => /^SEARCH (l|losses)\b/.test(line))
    expect(first).toMatch(/COVERING INDEX losses_by_time \(at>\? AND at<\?\)/)
  }
  for (const sql of [false, true].flatMap((byProject) => [
    findLosses(byProject, false),
    countLosses(byProject, false),
  ])) {
    expect(planOf(sql).filter((line) => /^SCAN (?!l$|json_each|value|\()/.test(line))).toEqual([])
  }
})

it('is fast even if half a million messages were lost', async () => {
  const chats = Array.from({ length: 500 }, (_, index) => api.mirror.addChat({ id: `c${index}`, project: shop }))
  const add = api.mirror.writer.prepare(`insert into losses (chat, kind, message_id, at) values (?, 'message', ?, ?)`)
  api.mirror.writer.transaction(() => {
    for (const [index, chat] of chats.entries())
      for (let message = 0; message < 1000; message += 1) add.run(chat, `m${message}`, index * 1000 + message)
  })()
  for (const path of ['/api/losses', '/api/losses?project=shop&offset=400000']) {
    const cpuMs = startCpuClock()
    expect(await bodyOf(await api.ask(path))).toMatchObject({ total: 500_000, items: { length: 20 } })
    const tookMs = cpuMs()
    console.log(`500,000 losses: ${path} in ${Math.round(tookMs)} ms`)
    expect(tookMs).toBeLessThan(5000)
  }
})
