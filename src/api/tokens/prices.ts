import { createRequire } from 'node:module'
import type * as Prices from '@pydantic/genai-prices'
import { listedModel } from '../../model/model-name.ts'

/** The bundled price list and its date of publication. A test compares both with the installed package. */
export const priceList = { source: '@pydantic/genai-prices 0.1.8', asOf: '2026-09-23' }

/** Loaded at first use, because it takes 20 MB. The package contains its data and fetches nothing by default. */
let list: typeof Prices | null = null
const calcPrice: typeof Prices.calcPrice = (...asked) => {
  list ??= createRequire(import.meta.url)('@pydantic/genai-prices') as typeof Prices
  return list.calcPrice(...asked)
}

interface Unit {
  /** Dollars per million tokens. */
  readonly input: number
  readonly output: number
}

const DAY_MS = 86_400_000

/** A fixed price, a graded price, a price by time of day, or none. */
type Kind = Unit | 'graded' | 'timed' | null

/** List prices. Each is looked up once. */
export class PriceBook {
  readonly #units = new Map<string, Kind>()

  /**
   * The list price of a request at its time, as if nothing had been cached.
   * @returns cents; null if the model has no known price, or a count is unknown
   */
  centsOf(model: string | null, input: number | null, output: number | null, atMs: number | null): number | null {
    const listed = model === null ? null : listedModel(model)
    if (listed === null || input === null || output === null) return null
    const day = new Date(Math.floor((atMs ?? Date.parse(priceList.asOf)) / DAY_MS) * DAY_MS)
    const unit = this.#unitOf(listed, day)
    if (unit === null) return null
    if (unit === 'timed') return atMs === null ? null : centsAt(listed, input, output, new Date(atMs))
    if (unit === 'graded') return centsAt(listed, input, output, day)
    return (input * unit.input + output * unit.output) / 10_000
  }

  #unitOf(listed: string, day: Date): Kind {
    const name = `${listed} ${day.getTime()}`
    const known = this.#units.get(name)
    if (known !== undefined) return known
    const price = priceOf(listed, 1, 1, day)
    const unit = price === null || !isNameOf(price.model, listed) ? null : kindOf(price)
    this.#units.set(name, unit)
    return unit
  }
}

const priceOf = (model: string, input: number, output: number, timestamp: Date): Prices.PriceCalculationResult =>
  calcPrice({ input_tokens: input, output_tokens: output }, model, { timestamp })

function centsAt(model: string, input: number, output: number, at: Date): number | null {
  const price = priceOf(model, input, output, at)
  return price === null ? null : price.total_price * 100
}

function kindOf({ model, model_price: price }: Prices.PriceCalculation): Kind {
  const { prices } = model
  if (Array.isArray(prices) && prices.some(({ constraint }) => constraint?.type === 'time_of_date')) return 'timed'
  const { input_mtok: input, output_mtok: output } = price
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : 'graded'
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
