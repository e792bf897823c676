import { createRequire } from 'node:module'
import type * as Prices from '@pydantic/genai-prices'
import { listedModel } from '../../text/model-name.ts'

/** The list that is bundled, and the day it was published; a test holds both to the package that is installed. */
export const priceList = { source: '@pydantic/genai-prices 0.1.8', asOf: '2026-09-23' }

/** Loaded when first asked: it takes 20 MB. It comes with its data, and fetches nothing unless it is told to. */
let list: typeof Prices | null = null
const calcPrice: typeof Prices.calcPrice = (...asked) => {
  list ??= createRequire(import.meta.url)('@pydantic/genai-prices') as typeof Prices
  return list.calcPrice(...asked)
}

interface Unit {
  /** Dollars for a million tokens. */
  readonly input: number
  readonly output: number
}

const DAY_MS = 86_400_000

/** List prices, each looked up once. */
export class PriceBook {
  readonly #units = new Map<string, Unit | 'graded' | null>()

  /**
   * What a request of so many tokens costs by list price on its day, as if nothing of it had been cached.
   * @returns cents, or null for a model that has no known price, or where one of the counts is not known
   */
  centsOf(model: string | null, input: number | null, output: number | null, atMs: number | null): number | null {
    const listed = model === null ? null : listedModel(model)
    if (listed === null || input === null || output === null) return null
    const day = new Date(Math.floor((atMs ?? Date.parse(priceList.asOf)) / DAY_MS) * DAY_MS)
    const unit = this.#unitOf(listed, day)
    if (unit === null) return null
    if (unit === 'graded') return (priceOf(listed, input, output, day)?.total_price ?? 0) * 100
    return (input * unit.input + output * unit.output) / 10_000
  }

  #unitOf(listed: string, day: Date): Unit | 'graded' | null {
    const name = `${listed} ${day.getTime()}`
    const known = this.#units.get(name)
    if (known !== undefined) return known
    const price = priceOf(listed, 1, 1, day)
    const input = price?.model_price['input_mtok']
    const output = price?.model_price['output_mtok']
    const isPlain = typeof input === 'number' && typeof output === 'number'
    const unit = price === null ? null : isPlain ? { input, output } : 'graded'
    this.#units.set(name, unit)
    return unit
  }
}

const priceOf = (model: string, input: number, output: number, timestamp: Date): Prices.PriceCalculationResult =>
  calcPrice({ input_tokens: input, output_tokens: output }, model, { timestamp })
