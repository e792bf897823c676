import { Chance, headers, type Store } from '../../../helpers/cursor.ts'
import { encoded, mutatedQuery, nestedQuery, randomQuery } from './hostile-query.ts'

export interface Searched {
  readonly searches: number
  readonly withHits: number
  /** Requests whose address is longer than Node reads. They are refused with 431 and not searched. */
  readonly tooLong: number
  readonly overDeadline: number
  /** Answers that are invalid or not from a search, a line each. */
  readonly faults: readonly string[]
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
  '&chat=talk&role=user',
  '&limit=200&offset=10000',
] as const

const texts = ['plum lorem getUserName', '数据库 ตัว é', "don't a 0 src/api/search.ts", 'NEAR title match rebuild']

/** A chat with words that many hostile searches find. */
export function writeTalk(store: Store, messages = 80): void {
  const ids = Array.from({ length: messages }, (_, at) => `m${at}`)
  for (const [at, id] of ids.entries()) {
    store.message('talk', id, { type: 1 + (at % 2), text: `${texts[at % texts.length]} w${at}` })
  }
  store.chat('talk', { name: 'Plum talk', fullConversationHeadersOnly: headers(ids) })
}

/** Hostile searches. The same seed gives the same searches. @param ask sends a request for this path */
export async function askSearches(
  ask: (path: string) => Promise<Response>,
  seed: string,
  count: number,
): Promise<Searched> {
  const chance = new Chance(seed)
  const tally = { withHits: 0, tooLong: 0, overDeadline: 0 }
  const faults: string[] = []
  let next = 0
  const askOn = async (): Promise<void> => {
    while (next < count) {
      const path = `/api/search?q=${hostileQuery(chance, next++)}${chance.pick(others)}`
      const response = await ask(path)
      judge(response.status, await response.text(), path, tally, faults)
    }
  }
  await Promise.all(Array.from({ length: ASKERS }, askOn))
  return { searches: next, ...tally, faults }
}

/** The value of `q`: mostly encoded as browsers do, sometimes in an unusual way. */
function hostileQuery(chance: Chance, at: number): string {
  const kind = chance.between(1, 10)
  if (at % 500 === 0) {
    const long = encoded(chance.pick(['(', '"', 'w ', '-w ', '数', 'a*b ', ' OR ', '\ud800']).repeat(20_000))
    return long.slice(0, at % 1000 === 0 ? ADDRESS_LENGTH_MAX - 200 : 60_000)
  }
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

const syntaxError = /syntax error|malformed match|no such column|unterminated string|sqlite_/i

interface Tally {
  withHits: number
  tooLong: number
  overDeadline: number
}

function judge(status: number, body: string, path: string, tally: Tally, faults: string[]): void {
  if (status === 431 && path.length > ADDRESS_LENGTH_MAX) {
    tally.tooLong += 1
    return
  }
  const answer = (body.startsWith('{') ? JSON.parse(body) : {}) as Readonly<Record<string, unknown>>
  const { total, items, warnings } = answer
  const says = status === 200 ? JSON.stringify(warnings) : body
  if (status === 503 || says.includes('ran out of time')) tally.overDeadline += 1
  const isWhole = status === 200 && typeof total === 'number' && Array.isArray(items) && Array.isArray(warnings)
  if (!isWhole || syntaxError.test(says)) faults.push(`${status} to ${path.slice(0, 300)}: ${body.slice(0, 200)}`)
  else if (items.length > 0) tally.withHits += 1
}
