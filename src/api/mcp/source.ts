import type { Json } from '../../model/json.ts'
import { Masking } from '../export/redact/masking.ts'

/** Where the tools get their answers: the routes of the HTTP side, over a daemon or in this process. */
export interface McpSource {
  readonly version: string
  /** The JSON of a route. @throws UserError or Problem for a problem that the route reports */
  get(path: string, query?: Readonly<Record<string, Given>>): Promise<unknown>
  /** Epoch milliseconds. */
  now(): number
}

export type Given = string | number | boolean | null | undefined | readonly string[]

/** A query from what is given. Undefined and null are left out; a list is a repeated parameter. */
export function queryOf(given: Readonly<Record<string, Given>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    const values = typeof value === 'object' ? value : [String(value)]
    for (const each of values) query.append(name, each)
  }
  return query
}

/** Names that tools are asked with again. They hold no secret, and masked they would find nothing. */
const IDS = /^(id|chatId|messageId|parentChatId|sha|createdAt|lastActivityAt|at)$/

/** The same source with the secrets of every answer masked. */
export function redacting(source: McpSource): McpSource {
  return {
    version: source.version,
    now: () => source.now(),
    async get(path, query) {
      // A passage is cut from its message. Half of a key would not be known as one, so the search masks before it cuts.
      const asked = path === '/api/search' ? { ...query, redact: true } : query
      const answer = (await source.get(path, asked)) as Json
      return withIds(new Masking().maskAtOnce(answer), answer)
    },
  }
}

function withIds(masked: Json, original: Json): Json {
  if (Array.isArray(masked) && Array.isArray(original)) {
    return masked.map((each, at) => withIds(each as Json, original[at] as Json))
  }
  if (!isRecord(masked) || !isRecord(original)) return masked
  const keys = Object.keys(original)
  return Object.fromEntries(
    Object.entries(masked).map(([key, value], at) => {
      const source = original[keys[at] ?? key] as Json
      return [key, IDS.test(key) && typeof source === 'string' ? source : withIds(value, source)]
    }),
  )
}

const isRecord = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
