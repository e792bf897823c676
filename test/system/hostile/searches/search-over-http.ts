import { Agent, request } from 'node:http'
import { Chance } from '../../../helpers/cursor.ts'
import { mutatedQuery, nestedQuery } from './mutated-query.ts'
import { encoded, randomQuery } from './random-query.ts'

export interface SearchedOverHttp {
  readonly searches: number
  readonly withHits: number
  /** Requests whose address is longer than Node reads. They are refused with 431 and not searched. */
  readonly tooLong: number
  /** Answers that are invalid or not from a search. */
  readonly faults: readonly string[]
  readonly syntaxErrors: number
  readonly overDeadline: number
  /** The time from the request to the end of its answer. */
  readonly slowestMs: number
  readonly slowest: string
  readonly p99Ms: number
}

/** An address of this many bytes is always read. The headers then still fit into Node's 16 KB. */
const ADDRESS_LENGTH_MAX = 15_000
/** The number of searches that run at a time, so that none waits for another. */
const ASKERS = 2
const others = [
  '',
  '',
  '',
  '&sort=newest',
  '&sort=oldest',
  '&group=chat',
  '&explain=true',
  '&facets=project,tool',
] as const

/** Hostile searches on a running daemon. The same seed gives the same searches. */
export async function searchOverHttp(url: string, seed: string, count: number): Promise<SearchedOverHttp> {
  const agent = new Agent({ keepAlive: true, maxSockets: ASKERS })
  const chance = new Chance(seed)
  const tally = { searches: 0, withHits: 0, tooLong: 0, syntaxErrors: 0, overDeadline: 0, slowestMs: 0, slowest: '' }
  const faults: string[] = []
  const times: number[] = []
  let next = 0
  const ask = async (): Promise<void> => {
    while (next < count) {
      const at = next
      next += 1
      const query = hostileQuery(chance, at)
      const path = `/api/search?q=${query}${chance.pick(others)}`
      const startedAtMs = performance.now()
      const answer = await get(agent, url, path)
      const tookMs = performance.now() - startedAtMs
      times.push(tookMs)
      if (tookMs > tally.slowestMs) Object.assign(tally, { slowestMs: tookMs, slowest: query.slice(0, 200) })
      tally.searches += 1
      judge(answer, path, tally, faults)
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, ask))
  agent.destroy()
  times.sort((one, other) => one - other)
  return { ...tally, faults, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0 }
}

/** The value of `q`: mostly encoded as browsers do, sometimes in an unusual way. */
function hostileQuery(chance: Chance, at: number): string {
  const kind = chance.between(1, 10)
  if (at % 500 === 0)
    return encoded(chance.pick(['(', '"', 'w ', '-w ', '数', 'a*b ', ' OR ', '\ud800']).repeat(20_000)).slice(
      0,
      at % 1000 === 0 ? ADDRESS_LENGTH_MAX - 200 : 60_000,
    )
  if (kind <= 4) return encoded(randomQuery(chance, at + 1))
  if (kind <= 7) return encoded(mutatedQuery(chance))
  if (kind === 8) return encoded(nestedQuery(chance))
  if (kind === 9) return encoded(anySigns(chance))
  return Array.from({ length: chance.between(1, 30) }, () =>
    chance.pick(['%', '%2', '%zz', '%00', '%e0%80', '%ff', '%F0%9F', '+', '%2520', 'a', '%22', '%28', ';', '=', '%26']),
  ).join('')
}

function anySigns(chance: Chance): string {
  const highest = chance.pick(['\u007f', '\u07ff', '\uffff', '\u{10ffff}']).codePointAt(0) ?? 0
  return Array.from({ length: chance.between(1, 60) }, () => String.fromCodePoint(chance.between(0, highest))).join('')
}

interface Answer {
  readonly status: number
  readonly body: string
}

function get(agent: Agent, url: string, path: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/`, { agent, path }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body })).on('error', reject)
    })
    asked.on('error', reject).end()
  })
}

interface Tally {
  withHits: number
  tooLong: number
  syntaxErrors: number
  overDeadline: number
}

const syntaxError = /syntax error|malformed match|no such column|unterminated string|sqlite_/i

function judge({ status, body }: Answer, path: string, tally: Tally, faults: string[]): void {
  if (status === 431 && path.length > ADDRESS_LENGTH_MAX) {
    tally.tooLong += 1
    return
  }
  const answer = (body.startsWith('{') ? JSON.parse(body) : {}) as Readonly<Record<string, unknown>>
  const { total, items, warnings } = answer
  const says = status === 200 ? JSON.stringify(warnings) : body
  if (status === 503 || says.includes('ran out of time')) tally.overDeadline += 1
  if (syntaxError.test(says)) tally.syntaxErrors += 1
  const isWhole = status === 200 && typeof total === 'number' && Array.isArray(items) && Array.isArray(warnings)
  if (!isWhole) faults.push(`${status} to ${path.slice(0, 300)}: ${body.slice(0, 200)}`)
  else if (items.length > 0) tally.withHits += 1
}
