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

test.each(['composer-1', 'auto', 'default', 'cursor-small', 'gpt-5-fast', 'nobody-knows-it', null])(
  '%s is not priced',
  (model) => {
    expect(new PriceBook().centsOf(model, 1_000_000, 1000, JAN)).toBeNull()
  },
)

test('prices agree with the list, including graded ones', () => {
  const book = new PriceBook()
  for (const model of ['gpt-5', 'gemini-2.5-pro', 'claude-sonnet-4-5']) {
    for (const [input, output] of [
      [1000, 50],
      [350_000, 9000],
      [0, 7],
    ] as const) {
      const price = calcPrice({ input_tokens: input, output_tokens: output }, model, { timestamp: new Date(JAN) })
      expect(book.centsOf(model, input, output, JAN)).toBeCloseTo((price?.total_price ?? Number.NaN) * 100, 9)
    }
  }
})

test.each([
  // By time of day: half the price or less at night.
  ['deepseek-r1', Date.UTC(2025, 2, 3, 10)],
  ['deepseek-r1', Date.UTC(2025, 2, 3, 20)],
  // A suffix that looks like an effort or a speed belongs to the name.
  ['kimi-k2-thinking', JAN],
  ['grok-4-fast', JAN],
  ['mistral-medium', JAN],
  ['claude-3-5-sonnet-20241022', JAN],
])('%s at %d is not priced like a similar model or another hour', (model, atMs) => {
  const tokens = { input_tokens: 100_000, output_tokens: 100_000 }
  const price = calcPrice(tokens, model, { timestamp: new Date(atMs) })
  const cents = new PriceBook().centsOf(model, 100_000, 100_000, atMs)
  expect(cents).toBeCloseTo((price?.total_price ?? Number.NaN) * 100, 9)
})

test.each(['deepseek-r1-distill-llama-8b', 'claude-3-opus-of-our-own', 'claude-opus-4-6-fast'])(
  '%s only begins like a name in the list, and is not priced',
  (model) => {
    expect(new PriceBook().centsOf(model, 1000, 1000, JAN)).toBeNull()
  },
)

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
