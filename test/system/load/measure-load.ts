import { makeStore, type StoreShape } from '../../../bench/make-store.ts'
import { childrenOf } from '../../helpers/children-of.ts'
import { getStatus, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'

const letters = Array.from('abcdefghijklmnopqrstuvwxyz')

/** The most expensive searches. */
const hostile = [
  letters.map((letter) => `${letter}*`).join(' OR '),
  letters.map((letter) => `${letter}*`).join(' '),
  'a* -zzz',
  '*e*',
  `"${'the '.repeat(60)}"`,
  `${'('.repeat(200)}a*${')'.repeat(200)}`,
  letters.flatMap((one) => letters.map((other) => `${one}${other}*`)).join(' OR '),
  'e*',
]

const SEARCHERS = 8
/** Requests that must not wait for a search or for indexing. */
const quick = ['/api/health', '/api/status', '/api/chats?limit=200', '/api/projects']
/** Searches continue at least this long, even if the first pass ends earlier. */
const LEAST_MS = 3000

export interface LoadOutcome {
  /** The times of requests in milliseconds, by path. Searches are under `search`. */
  readonly times: ReadonlyMap<string, readonly number[]>
  /** Answers that were neither 200 nor, to a search, a 503 with code `deadline`. */
  readonly odd: readonly string[]
  readonly deadlines: number
  readonly searchersMax: number
  /** The median of the requests that must not wait, of the path with the largest. */
  readonly slowestMedianMs: number
  readonly indexingMs: number
  readonly lines: readonly string[]
}

/** Sends many kinds of requests to a daemon that has just begun to read a store. */
export async function measureLoad(shape: StoreShape): Promise<LoadOutcome> {
  const place = new Workplace()
  try {
    makeStore(place.cursor.root, shape)
    const { daemon, url } = await place.serve()
    const asked = new Asked(url)
    const startedAt = performance.now()
    const end = { isReached: false }
    let searchersMax = 0
    const untilOver = async (act: (round: number) => Promise<void>): Promise<void> => {
      for (let round = 0; !end.isReached; round += 1) await act(round)
    }
    const searching = Array.from({ length: SEARCHERS }, (_, searcher) =>
      untilOver((round) => asked.search(hostile[(searcher + round) % hostile.length] ?? '')),
    )
    const looking = quick.map((path) => untilOver(() => asked.look(path).then(() => pause(20))))
    const counting = untilOver(async () => {
      searchersMax = Math.max(searchersMax, process.platform === 'linux' ? childrenOf(daemon.pid).length : 0)
      await pause(10)
    })
    while ((await getStatus(url)).state !== 'ready') await pause(100)
    const indexingMs = performance.now() - startedAt
    await pause(Math.max(0, LEAST_MS - indexingMs))
    end.isReached = true
    await Promise.all([...searching, ...looking, counting])
    const slowestMedianMs = Math.max(...quick.map((path) => percentile(asked.times.get(path) ?? [], 0.5)))
    const lines = [...asked.times].map(([path, times]) => `${path} ${describe(times)}`)
    const { times, odd, deadlines } = asked
    return { times, odd, deadlines, searchersMax, slowestMedianMs, indexingMs, lines }
  } finally {
    await place.remove()
  }
}

class Asked {
  readonly times = new Map<string, number[]>()
  readonly odd: string[] = []
  deadlines = 0
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async look(path: string): Promise<void> {
    const { status } = await this.#ask(path, path)
    if (status !== 200) this.odd.push(`${path}: ${status}`)
  }

  async search(q: string): Promise<void> {
    const { status, body } = await this.#ask('search', `/api/search?q=${encodeURIComponent(q)}`)
    if (status === 503 && body['code'] === 'deadline') this.deadlines += 1
    else if (status !== 200) this.odd.push(`search for ${q.slice(0, 20)}: ${status} ${String(body['code'])}`)
  }

  async #ask(name: string, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const startedAt = performance.now()
    const response = await fetch(`${this.#url}${path}`)
    const body = (await response.json()) as Record<string, unknown>
    const times = this.times.get(name) ?? []
    this.times.set(name, times)
    times.push(performance.now() - startedAt)
    return { status: response.status, body }
  }
}

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function describe(times: readonly number[]): string {
  const [p50, p99, max] = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)].map(Math.round)
  return `${times.length} answers, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`
}
