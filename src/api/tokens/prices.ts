import { createRequire } from 'node:module'
import type * as Prices from '@pydantic/genai-prices'
import { listedModel } from '../../text/tokens/model-name.ts'

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

/** Priced by a graded list, by the hour of the day, or not at all. */
type Kind = Unit | 'graded' | 'timed' | null

/** List prices, each looked up once. */
export class PriceBook {
  readonly #units = new Map<string, Kind>()

  /**
   * What a request of so many tokens costs by list price at its time, as if nothing of it had been cached.
   * @returns cents, or null for a model that has no known price, or where one of the counts is not known
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

/** A mark of when a model was made, behind a name that the list has: `claude-3-5-sonnet-20241022`. */
const RELEASE = /-(?:latest|20\d{6}|20\d\d-\d\d-\d\d|(?:preview|exp)(?:-\d\d-\d\d)?)$/

/** The list takes whatever begins like a name for that model; here it must be the name itself. */
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
