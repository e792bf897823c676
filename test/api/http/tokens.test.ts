import { afterEach, beforeEach, expect, test } from 'vitest'
import { bodyOf, createTestApi, type TestApi } from './test-api.ts'
import type { TokensAnswer } from '../../../src/api/answers/tokens.ts'

let api: TestApi

beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

const at = (time: string): number => Date.parse(`2026-01-10T${time}Z`)

const tokens = async (query = ''): Promise<TokensAnswer> =>
  (await bodyOf(await api.ask(`/api/tokens${query}`))) as unknown as TokensAnswer

const importFile = (text: string | Uint8Array<ArrayBuffer>, type = 'text/csv'): Promise<Response> =>
  api.ask('/api/tokens/import', { method: 'POST', headers: { 'content-type': type }, body: text })

/** A chat with an answer by this model at this time. */
function addAnswer(id: string, model: string | null, time: string, columns = {}): number {
  const chat = api.mirror.addChat({ id, columns: { models: JSON.stringify(model === null ? [] : [model]) } })
  const options = { role: 'assistant', createdAt: at(time), columns: { model, ...columns } } as const
  api.mirror.addMessage(chat, { id: `${id}-1`, ...options })
  return chat
}

test('an empty mirror gives nulls instead of zeros', async () => {
  const answer = await tokens()
  expect(answer).toMatchObject({ rows: [], rowsTotal: 0, imports: null, prices: null, notes: [] })
  const { recorded, imported, estimated, contextSnapshot, recordedCents, priced, coverage } = answer.totals
  expect([recorded, imported, estimated, contextSnapshot, recordedCents, priced]).toEqual(Array(6).fill(null))
  expect(coverage).toEqual({ messages: 0, recorded: 0, estimated: 0, unknown: 0 })
})

test('if nothing was recorded, the numbers are null and the coverage shows it', async () => {
  addAnswer('a', 'gpt-5', '10:00:00', { input_tokens: 0, output_tokens: 0 })
  addAnswer('b', 'gpt-5', '11:00:00')
  const { rows, coverage, prices } = await tokens()
  expect(coverage).toEqual({ messages: 2, recorded: 0, estimated: 0, unknown: 2 })
  expect(rows).toMatchObject([
    { key: '2026-01-10', label: '2026-01-10', recorded: null, estimated: null, priced: null },
  ])
  expect(prices).toBeNull()
})

test('rows may be for several things at once: the newest day first, then the most messages', async () => {
  for (const [id, model] of [
    ['a', 'gpt-5'],
    ['b', 'gpt-5'],
    ['c', 'composer-1'],
  ] as const) {
    addAnswer(id, model, '10:00:00', { estimated_input: 0, estimated_output: 4 })
  }
  const byDay = await tokens('?groupBy=model,day')
  expect(byDay.rows.map(({ key, keys, label }) => [key, keys, label])).toEqual([
    ['2026-01-10', ['2026-01-10', 'gpt-5'], '2026-01-10 · gpt-5'],
    ['2026-01-10', ['2026-01-10', 'composer-1'], '2026-01-10 · composer-1'],
  ])
  expect(byDay.rows.map(({ estimated }) => estimated?.output)).toEqual([8, 4])
  const { rows } = await tokens('?groupBy=model&groupBy=project')
  expect(rows.map(({ keys, label }) => [keys, label])).toContainEqual([['gpt-5', null], 'gpt-5 · no project'])
  for (const wrong of ['day,week', 'model,model']) {
    expect(await bodyOf(await api.ask(`/api/tokens?groupBy=${wrong}`))).toMatchObject({ code: 'bad-parameter' })
  }
})

test('each source has its own numbers and notes', async () => {
  addAnswer('a', 'claude-4.5-sonnet', '10:00:00', { input_tokens: 1_000_000, output_tokens: 100_000 })
  addAnswer('b', 'composer-1', '11:00:00', { input_tokens: 500, output_tokens: 5 })
  addAnswer('c', null, '12:00:00', { estimated_input: 0, estimated_output: 4 })
  api.mirror.addChat({ id: 'd', columns: { context_used: 9000, recorded_cost_cents: 28 } })
  const { totals, prices, notes } = await tokens('?groupBy=model')
  expect(totals).toMatchObject({
    recorded: { input: 1_000_500, output: 100_005, messages: 2 },
    estimated: { input: 0, messages: 1 },
    contextSnapshot: { tokens: 9000, chats: 1 },
    recordedCents: 28,
    // The list price of one model. The other has none.
    priced: { cents: 825, messages: 1, unpriced: 1 },
    coverage: { messages: 3, recorded: 2, estimated: 1, unknown: 0 },
  })
  expect(prices?.source).toContain('genai-prices')
  expect(notes.join('\n')).toMatch(/not what was billed/)
  expect(notes.join('\n')).toContain('1 of 2 recorded messages is not priced')
})

test('a message has its own tokens with their source', async () => {
  addAnswer('a', null, '10:00:00', { input_tokens: 7, output_tokens: 3 })
  addAnswer('b', null, '11:00:00', { estimated_input: 0, estimated_output: 4 })
  addAnswer('c', null, '12:00:00')
  const of = async (id: string): Promise<unknown> =>
    ((await bodyOf(await api.ask(`/api/chats/${id}/messages`)))['items'] as { tokens: unknown }[])[0]?.tokens
  expect(await of('c')).toBeNull()
  expect(await of('a')).toEqual({ input: 7, output: 3, source: 'recorded' })
  expect(await of('b')).toMatchObject({ source: 'estimated', input: 0 })
})

test('an orphan does not count, but a message that Cursor deleted does', async () => {
  const chat = addAnswer('a', null, '10:00:00', { is_live: 0, deleted_at: at('12:00:00') })
  api.mirror.addMessage(chat, { id: 'o', isOrphan: true, createdAt: at('10:00:01') })
  expect((await tokens()).coverage.messages).toBe(1)
})

test.each(['groupBy=hour', 'tz=Mars', 'from=never', 'nonsense=1', 'limit=0'])(
  'a bad parameter is refused: %s',
  async (query) => {
    expect((await api.ask(`/api/tokens?${query}`)).status).toBe(400)
  },
)

const DAYS = 1001
const dayOf = (index: number): string => new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10)

test(
  'of more rows than are wanted, the newest or largest are kept, and that is said',
  { timeout: 60_000 },
  async () => {
    const long = api.mirror.addChat({ id: 'long' })
    api.mirror.writer.transaction(() => {
      for (let index = 0; index < DAYS; index += 1)
        api.mirror.addMessage(long, { id: `m${index}`, createdAt: Date.parse(dayOf(index)) })
    })()
    api.mirror.addMessage(api.mirror.addChat({ id: 'undated' }), { id: 'u', createdAt: null })
    api.mirror.addMessage(api.mirror.addChat({ id: 'small' }), { id: 's', createdAt: Date.parse(dayOf(DAYS - 1)) })
    for (const [query, shown, omitted] of [
      ['', 1000, 'Only 1,000 of 1,002 rows are shown, the newest. The totals include all.'],
      ['limit=1', 1, 'Only 1 of 1,002 rows are shown, the newest. The totals include all.'],
      ['groupBy=chat&limit=2', 2, 'Only 2 of 3 rows are shown, those with the most messages. The totals include all.'],
      ['limit=1002', 1002, null],
    ] as const) {
      const answer = await tokens(`?${query}`)
      expect(answer).toMatchObject({ coverage: { messages: DAYS + 2 }, undated: { messages: 1 }, omitted })
      expect(answer.rows).toHaveLength(shown)
      const isByChat = query.startsWith('groupBy')
      expect(answer.rowsTotal).toBe(isByChat ? 3 : DAYS + 1)
      expect(answer.rows.at(isByChat ? 0 : -1)?.key).toBe(isByChat ? 'long' : dayOf(DAYS - 1))
    }
    expect((await tokens('?from=2020-01-02')).notes.join()).toContain('left out if dates are given: 1 here.')
  },
)

const HEAD =
  'Date,User,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost'
const line = (time: string, model: string, output: number, cost = 'Included'): string =>
  `2026-01-10T${time}Z,me@x.org,Included,${model},No,0,100,50,${output},${150 + output},${cost}`
const file = (...lines: string[]): string => [HEAD, ...lines].join('\n')

test('imported rows are matched with chats by time and model', async () => {
  addAnswer('sonnet', 'claude-4.5-sonnet', '10:02:00')
  addAnswer('other', 'gpt-5', '10:03:00')
  addAnswer('late', 'gpt-5', '15:00:00')
  addAnswer('rival', 'gpt-5-high', '15:02:00')
  const answer = await bodyOf(
    await importFile(
      file(
        line('10:00:00.000', 'claude-sonnet-4-5-thinking', 1, '$0.12'),
        line('10:00:01.000', 'gpt-5-high', 2),
        line('10:00:02.000', 'gemini-3-pro', 3),
        line('15:01:00.000', 'gpt-5', 4),
        line('20:00:00.000', 'gpt-5', 5),
      ),
    ),
  )
  expect(answer).toMatchObject({ rows: 5, matched: 2, unmatched: 3, already: 0 })
  const byChat = await tokens('?groupBy=chat')
  const imported = Object.fromEntries(byChat.rows.map(({ key, imported: given }) => [key, given?.output ?? null]))
  expect(imported).toEqual({ sonnet: 1, other: 2, late: null, rival: null, unmatched: 12 })
  expect(byChat.imports).toEqual({ events: 5, matched: 2, unmatched: 3 })
  expect(byChat.totals.imported).toMatchObject({ input: 500, cacheRead: 250, cacheWrite: 0, output: 15, cents: 12 })
  const byModel = await tokens('?groupBy=model')
  expect(byModel.rows.find(({ key }) => key === 'gemini-3-pro')?.imported).toMatchObject({ output: 3, cents: null })
})

test('importing a file again, or an overlapping one, adds nothing twice', async () => {
  const [one, two, three] = [line('10:00:00', 'gpt-5', 1), line('10:00:01', 'gpt-5', 2), line('10:00:02', 'gpt-5', 3)]
  const twin = file(one, two, two)
  expect(await bodyOf(await importFile(twin))).toMatchObject({ rows: 3, matched: 0, unmatched: 3, already: 0 })
  expect(await bodyOf(await importFile(twin))).toMatchObject({ rows: 3, matched: 0, unmatched: 0, already: 3 })
  const later = file(three, two, two, line('10:00:00', 'gpt-5', 1, '$0.30'))
  expect(await bodyOf(await importFile(later))).toMatchObject({ rows: 4, unmatched: 1, already: 3 })
  // The charge may be known only later.
  expect((await tokens()).totals.imported).toMatchObject({ events: 4, output: 8, cents: 30 })
})

test('usage of colleagues in the same minute is not matched with my chat', async () => {
  addAnswer('mine', 'gpt-5', '10:01:00')
  const rows = (...users: string[]) =>
    file(...users.map((user, n) => line(`10:00:0${n}`, 'gpt-5', n + 1).replace('me@x.org', `${user}@x.org`)))
  const answer = await bodyOf(await importFile(rows('ann', 'me', 'bob')))
  expect(answer).toMatchObject({ matched: 0, unmatched: 3 })
  api.mirror.writer.exec('delete from usage_events')
  expect(await bodyOf(await importFile(rows('me')))).toMatchObject({ matched: 1 })
  expect(await bodyOf(await importFile(rows('me', 'ann', 'bob')))).toMatchObject({
    matched: 0,
    unmatched: 2,
    already: 1,
  })
})

test('a row whose chat arrives later is matched at the next import', async () => {
  const text = file(line('10:00:00', 'gpt-5', 1))
  await importFile(text)
  addAnswer('a', 'gpt-5', '10:00:30')
  expect(await bodyOf(await importFile(text))).toMatchObject({ already: 1, rematched: 1 })
  expect((await tokens('?groupBy=chat')).rows).toMatchObject([{ key: 'a', imported: { output: 1 } }])
})

test('the project filter selects the imported rows of chats in that project', async () => {
  const project = api.mirror.addProject('shop')
  const chat = api.mirror.addChat({ id: 'a', project })
  api.mirror.addMessage(chat, { id: 'm', role: 'assistant', createdAt: at('10:00:00') })
  await importFile(file(line('10:00:00', 'gpt-5', 1), line('20:00:00', 'gpt-5', 2)))
  const answer = await tokens('?groupBy=project&project=shop')
  expect(answer.rows).toMatchObject([{ key: 'shop', label: 'shop', imported: { output: 1 } }])
  const keys = (await tokens('?groupBy=project')).rows.map(({ key }) => key)
  expect(keys).toEqual(['shop', 'unmatched'])
})

test('an invalid file is refused with a reason, and nothing is imported', async () => {
  const refused = async (response: Promise<Response>): Promise<readonly [number, unknown, string]> => {
    const answer = await response
    const { code, detail } = await bodyOf(answer)
    return [answer.status, code, String(detail)]
  }
  expect((await refused(importFile('{}', 'application/json'))).slice(0, 2)).toEqual([415, 'not-csv'])
  expect((await refused(importFile(HEAD, 'text/plain'))).slice(0, 2)).toEqual([415, 'not-csv'])
  expect((await refused(importFile('x'.repeat(17 * 1024 * 1024)))).slice(0, 2)).toEqual([413, 'too-large'])
  expect((await refused(importFile(new Uint8Array([0xff, 0xfe, 0x44])))).slice(0, 2)).toEqual([400, 'bad-encoding'])
  const [status, code, detail] = await refused(importFile(file(line('10:00:00', 'gpt-5', 1), 'soon,,,gpt-5,,,,,,,')))
  expect([status, code]).toEqual([400, 'bad-cell'])
  expect(detail).toMatch(/Line 3: the date "soon" is not a time/)
  expect((await tokens()).imports).toBeNull()
})

test('a row at the end of the calendar, accepted by an earlier version, does not prevent the answer', async () => {
  await importFile(file(line('10:00:00', 'gpt-5', 1)))
  api.mirror.writer
    .prepare(
      `insert into usage_events (identity, occurrence, at, model, total, imported_at) values ('x', 1, 8640000000000000, 'gpt-5', 7, 0)`,
    )
    .run()
  expect((await tokens('?groupBy=day')).totals.imported).toMatchObject({ events: 2 })
  expect(await bodyOf(await importFile(file(line('10:00:00', 'gpt-5', 1))))).toMatchObject({ already: 1 })
})
