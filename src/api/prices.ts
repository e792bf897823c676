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

/** The cents of a request; null if they are unknown. */
type Pricing = (input: number, output: number, atMs: number | null) => number | null

/** List prices. Each model is looked up once. */
export class PriceBook {
  readonly #pricings = new Map<string, Pricing>()

  /**
   * The list price of a request at its time, as if nothing had been cached.
   * @returns cents; null if the model has no known price, or a count is unknown
   */
  centsOf(model: string | null, input: number | null, output: number | null, atMs: number | null): number | null {
    const listed = model === null ? null : listedModel(model)
    if (listed === null || input === null || output === null) return null
    const pricing = this.#pricings.get(listed) ?? pricingOf(listed)
    this.#pricings.set(listed, pricing)
    return pricing(input, output, atMs)
  }
}

function pricingOf(listed: string): Pricing {
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, listed)
  if (found === null || !isNameOf(found.model, listed)) return () => null
  const { input_mtok: forInput, output_mtok: forOutput } = found.model_price
  if (!Array.isArray(found.model.prices) && typeof forInput === 'number' && typeof forOutput === 'number') {
    // Dollars per million tokens.
    return (input, output) => (input * forInput + output * forOutput) / 10_000
  }
  // The price depends on the time or the size of a request.
  return (input, output, atMs) => {
    if (atMs === null) return null
    const priced = calcPrice({ input_tokens: input, output_tokens: output }, listed, { timestamp: new Date(atMs) })
    return priced === null ? null : priced.total_price * 100
  }
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
