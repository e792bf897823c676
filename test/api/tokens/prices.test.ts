import { readFileSync } from 'node:fs'
import { calcPrice } from '@pydantic/genai-prices'
import { expect, test, vi } from 'vitest'
import { PriceBook, priceList } from '../../../src/api/prices.ts'

const JAN = Date.UTC(2026, 0, 15, 12)

test.each(['claude-4.5-sonnet', 'claude-4.1-opus-thinking', 'gpt-5-codex-high', 'gemini-3-pro', 'gpt-4o'])(
  '%s has a price, by any name in the list',
  (model) => {
    expect(new PriceBook().centsOf(model, 1_000_000, 0, JAN)).toBeGreaterThan(0)
  },
)

test.each([
  ...['gpt-5', 'gemini-2.5-pro', 'claude-sonnet-4-5'].flatMap((model) => [
    [model, JAN, 1000, 50] as const,
    [model, JAN, 350_000, 9000] as const,
    [model, JAN, 0, 7] as const,
  ]),
  // By time of day: half the price or less at night.
  ['deepseek-r1', Date.UTC(2025, 2, 3, 10), 100_000, 100_000],
  ['deepseek-r1', Date.UTC(2025, 2, 3, 20), 100_000, 100_000],
  // A suffix that looks like an effort or a speed belongs to the name.
  ...['kimi-k2-thinking', 'grok-4-fast', 'mistral-medium', 'claude-3-5-sonnet-20241022'].map(
    (model) => [model, JAN, 100_000, 100_000] as const,
  ),
] as const)('%s at %d has the price of the list, also if it is graded', (model, atMs, input, output) => {
  const price = calcPrice({ input_tokens: input, output_tokens: output }, model, { timestamp: new Date(atMs) })
  const cents = new PriceBook().centsOf(model, input, output, atMs)
  expect(cents).toBeCloseTo((price?.total_price ?? Number.NaN) * 100, 9)
})

test.each([
  'composer-1',
  'auto',
  'default',
  'cursor-small',
  'gpt-5-fast',
  'nobody-knows-it',
  null,
  // They only begin like a name in the list.
  'deepseek-r1-distill-llama-8b',
  'claude-3-opus-of-our-own',
  'claude-opus-4-6-fast',
])('%s is not priced', (model) => {
  expect(new PriceBook().centsOf(model, 1_000_000, 1000, JAN)).toBeNull()
})

test('a model with prices by time of day is not priced without a time', () => {
  expect(new PriceBook().centsOf('deepseek-r1', 1000, 1000, null)).toBeNull()
})

test('the named price list is the installed one', () => {
  const text = readFileSync('node_modules/@pydantic/genai-prices/package.json', 'utf8')
  const { name, version } = JSON.parse(text) as { readonly name: string; readonly version: string }
  expect(priceList.source).toBe(`${name} ${version}`)
  expect(Date.parse(priceList.asOf)).toBeGreaterThan(Date.UTC(2026, 0))
})

test('prices are never fetched', () => {
  const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('offline'))
  new PriceBook().centsOf('gpt-5', 1, 1, JAN)
  expect(fetched).not.toHaveBeenCalled()
  fetched.mockRestore()
})
