import { afterEach, beforeEach, expect, test } from 'vitest'
import { startCpuClock } from '../../helpers/cpu-time.ts'
import { headers } from '../../helpers/cursor.ts'
import { TokenWorld } from '../../helpers/token-world.ts'

let world: TokenWorld
beforeEach(() => void (world = new TokenWorld()))
afterEach(() => world.remove())

test('tokens without a known price cost null, not 0', async () => {
  const tokenCount = { inputTokens: 900, outputTokens: 50 }
  await world.exchange('unheard', { tokenCount, modelInfo: { modelName: 'composer-unheard-of' } })
  const { totals } = await world.told('?model=composer-unheard-of')
  expect(totals.priced).toEqual({ cents: null, messages: 0, unpriced: 1 })
})

test.each([
  ['input is 0', { inputTokens: 0, outputTokens: 50 }],
  ['input is missing', { outputTokens: 50 }],
  ['input is negative', { inputTokens: -1, outputTokens: 50 }],
  ['input is absurdly large', { inputTokens: 1e16, outputTokens: 50 }],
])('unrecorded input is null, and the message is not priced: %s', async (name, tokenCount) => {
  await world.exchange(name, { tokenCount, modelInfo: { modelName: 'gpt-5' } })
  const { rows } = await world.told('?groupBy=chat')
  const row = rows.find(({ key }) => key === name)
  expect(row?.recorded).toEqual({ input: null, output: 50, messages: 1 })
  expect(row?.priced).toEqual({ cents: null, messages: 0, unpriced: 1 })
})

test.each([
  ['grok-4', 'grok-4-fast'],
  ['kimi-k2', 'kimi-k2-thinking'],
])('for a chat with %s, an event of another model, %s, is not matched', async (modelName, billed) => {
  await world.exchange('c', { modelInfo: { modelName } })
  const answer = await world.import(`Date,Model,Total Tokens\n2025-03-01T10:01:00Z,${billed},7\n`)
  expect(answer).toMatchObject({ matched: 0, unmatched: 1 })
})

test('cents recorded for one model are not counted for another', async () => {
  await world.exchange(
    'paid',
    { modelInfo: { modelName: 'claude-3.5-sonnet' } },
    { usageData: { 'gpt-4': { costInCents: 8 } } },
  )
  const { rows, totals } = await world.told('?groupBy=model')
  const centsOf = (model: string | null) => rows.find(({ key }) => key === model)?.recordedCents
  expect([centsOf('claude-3.5-sonnet'), centsOf(null), totals.recordedCents]).toEqual([null, 8, 8])
  expect((await world.told('?model=claude-3.5-sonnet')).totals.recordedCents).toBeNull()
})

test('choosing another model in a chat does not move recorded tokens to that model or its price', async () => {
  const tokenCount = { inputTokens: 100_000, outputTokens: 10_000 }
  for (const modelName of ['gpt-4o-mini', 'claude-opus-4-1']) {
    await world.exchange('c', { tokenCount }, { modelConfig: { modelName } })
    const { rows, totals } = await world.told('?groupBy=model')
    expect(rows.map(({ key }) => key)).toEqual([null])
    expect(totals.priced).toEqual({ cents: null, messages: 0, unpriced: 1 })
  }
})

test('an answer without a model gets the only model of the other answers, not the chat’s current one', async () => {
  const createdAt = '2026-03-01T10:00:00.000Z'
  const row = { createdAt, tokenCount: { inputTokens: 10, outputTokens: 10 } }
  world.store.message('c', 'm1', { ...row, type: 2, text: 'one', modelInfo: { modelName: 'gpt-5' } })
  world.store.message('c', 'm2', { ...row, type: 2, text: 'two' })
  world.store.chat('c', { fullConversationHeadersOnly: headers(['m1', 'm2']), modelConfig: { modelName: 'o3' } })
  await world.indexer.pass('keys')
  const { rows } = await world.told('?groupBy=model')
  expect(rows.map(({ key, recorded }) => [key, recorded?.messages])).toEqual([['gpt-5', 2]])
})

test('a usage row is not matched with a draft', async () => {
  await world.exchange('draft', { modelInfo: { modelName: 'gpt-5' } }, { isDraft: true })
  const answer = await world.import(`Date,Model,Total Tokens\n2025-03-01T10:01:00Z,gpt-5,7\n`)
  expect(answer).toMatchObject({ matched: 0, unmatched: 1 })
})

test('when the role of a message changes to user, its tokens are no longer estimated as output', async () => {
  // The row has no role. The chat's list has it, and Cursor wrote that a moment later.
  world.store.message('c', 'm1', { text: 'hello', createdAt: '2026-03-01T10:00:00.000Z' })
  await world.indexer.pass('keys')
  expect((await world.told()).totals.estimated).toEqual({ input: 0, output: 1, messages: 1 })
  world.store.chat('c', { fullConversationHeadersOnly: headers(['m1']) })
  await world.indexer.pass('keys')
  expect((await world.told()).totals.estimated).toEqual({ input: 1, output: 0, messages: 1 })
})

test('messages of drafts count neither in tokens nor in statistics', async () => {
  const tokenCount = { inputTokens: 900, outputTokens: 50 }
  await world.exchange('d', { tokenCount }, { isDraft: true, contextTokensUsed: 77 })
  await world.exchange('c', { tokenCount })
  for (const groupBy of ['day', 'project', 'model', 'chat']) {
    const { rows, totals } = await world.told(`?groupBy=${groupBy}`)
    expect([rows.length, totals.coverage.messages, totals.recorded?.messages]).toEqual([1, 2, 1])
    expect(totals.contextSnapshot).toBeNull()
  }
})

const HEAD = 'Date,Model,Total Tokens'
test('a file with 12,000 equal rows, half of them known, takes no longer than a new one', async () => {
  const cpuMsOf = async (count: number, answer: object) => {
    const elapsed = startCpuClock()
    const text = `${HEAD}\n${'2026-01-01T00:00:00.001Z,a,7\n'.repeat(count)}`
    expect(await world.import(text)).toMatchObject(answer)
    return elapsed()
  }
  const firstMs = await cpuMsOf(6000, { matched: 0, unmatched: 6000, already: 0 })
  expect(await cpuMsOf(12_000, { unmatched: 6000, already: 6000 })).toBeLessThan(6 * firstMs + 1000)
  expect(await cpuMsOf(12_000, { unmatched: 0, already: 12_000 })).toBeLessThan(6 * firstMs + 1000)
})

test('of rows with several users, each row of an earlier file is found once, the first that fits first', async () => {
  const file = (users: readonly string[]) =>
    `${HEAD},User\n${users.map((user) => `2026-01-01T00:00:00.001Z,a,7,${user}\n`).join('')}`
  expect(await world.import(file(['', 'ann', 'bob', 'bob']))).toMatchObject({ unmatched: 4, already: 0 })
  expect(await world.import(file(['bob', 'cid', 'ann', 'bob', 'ann']))).toMatchObject({ unmatched: 2, already: 3 })
  expect(await world.import(file(Array(7).fill('')))).toMatchObject({ unmatched: 1, already: 6 })
})
