import { createRequire } from 'node:module'
import type * as Prices from '@pydantic/genai-prices'
import { listedModel } from '../model/model-name.ts'

/** The bundled price list and its date of publication. A test compares both with the installed package. */
export const priceList = { source: '@pydantic/genai-prices 0.1.8', asOf: '2026-09-23' }

/** Loaded at first use, because it takes 20 MB. The package contains its data and fetches nothing by default. */
let list: typeof Prices | null = null
const calcPrice: typeof Prices.calcPrice = (...asked) => {
  list ??= createRequire(import.meta.url)('@pydantic/genai-prices') as typeof Prices
  return list.calcPrice(...asked)
}

/** Dollars per million tokens. `by-request`: the price depends on the time or the size of a request. */
type Price = { readonly input: number; readonly output: number } | 'by-request' | null

/** List prices. Each model is looked up once. */
export class PriceBook {
  readonly #prices = new Map<string, Price>()

  /**
   * The list price of a request at its time, as if nothing had been cached.
   * @returns cents; null if the model has no known price, or a count is unknown
   */
  centsOf(model: string | null, input: number | null, output: number | null, atMs: number | null): number | null {
    const listed = model === null ? null : listedModel(model)
    if (listed === null || input === null || output === null) return null
    const price = this.#priceOf(listed)
    if (price === null) return null
    if (price !== 'by-request') return (input * price.input + output * price.output) / 10_000
    if (atMs === null) return null
    const found = calcPrice({ input_tokens: input, output_tokens: output }, listed, { timestamp: new Date(atMs) })
    return found === null ? null : found.total_price * 100
  }

  #priceOf(listed: string): Price {
    const known = this.#prices.get(listed)
    if (known !== undefined) return known
    const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, listed)
    const price = found === null || !isNameOf(found.model, listed) ? null : kindOf(found)
    this.#prices.set(listed, price)
    return price
  }
}

function kindOf({ model, model_price: price }: Prices.PriceCalculation): Price {
  const { input_mtok: input, output_mtok: output } = price
  const isFixed = !Array.isArray(model.prices) && typeof input === 'number' && typeof output === 'number'
  return isFixed ? { input, output } : 'by-request'
}

/** The release date or stage at the end of a model's name: `claude-3-5-sonnet-20241022`. */
const RELEASE = /-(?:latest|20\d{6}|20\d\d-\d\d-\d\d|(?:preview|exp)(?:-\d\d-\d\d)?)$/

/** The package matches names by their beginning. Here the whole name must match. */
function isNameOf({ id, match }: Prices.ModelInfo, name: string): boolean {
  const names = new Set([id, ...namesIn(match)])
  return names.has(name) || names.has(name.replace(RELEASE, ''))
}

function namesIn(match: Prices.MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(namesIn)
  if ('and' in match) return match.and.flatMap(namesIn)
  if ('equals' in match) return [match.equals]
  return 'starts_with' in match ? [match.starts_with] : []
}
