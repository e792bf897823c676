interface Light {
  readonly ms: number
  /** Searches that ended between the request and the answer. */
  readonly searchesEnded: number
  readonly status: number
}

export interface Overtaking {
  readonly searches: number
  /** Searches that ran out of time. */
  readonly cutShort: number
  readonly light: number
  /** Small requests that waited for more searches than can run at a time. */
  readonly keptWaiting: number
  readonly p99Ms: number
  readonly faults: readonly string[]
}

const LIGHT = ['/api/health', '/api/status', '/api/chats?limit=20', '/api/projects']
const SEARCHERS = 6
/** How many searches run at a time. All of them may end during one small request, but no more. */
const AT_A_TIME = 2

/** Sends small requests, one after the other, during a constant load of slow searches. */
export async function overtake(url: string, slowQuery: string, rounds: number): Promise<Overtaking> {
  const faults: string[] = []
  const light: Light[] = []
  const ended = { searches: 0, cutShort: 0, isOver: false }
  const searchers = Array.from({ length: SEARCHERS }, () => searchOn(url, slowQuery, ended, faults))
  for (let round = 0; round < rounds; round += 1) {
    for (const path of LIGHT) {
      const [startedAt, before] = [performance.now(), ended.searches]
      const response = await fetch(`${url}${path}`)
      await response.arrayBuffer()
      const { status } = response
      light.push({ ms: performance.now() - startedAt, searchesEnded: ended.searches - before, status })
      if (status !== 200) faults.push(`${path} was answered ${status}`)
    }
  }
  ended.isOver = true
  await Promise.all(searchers)
  const times = light.map(({ ms }) => ms).sort((one, other) => one - other)
  return {
    searches: ended.searches,
    cutShort: ended.cutShort,
    light: light.length,
    keptWaiting: light.filter(({ searchesEnded }) => searchesEnded > AT_A_TIME).length,
    p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    faults,
  }
}

interface Ended {
  searches: number
  cutShort: number
  isOver: boolean
}

async function searchOn(url: string, query: string, ended: Ended, faults: string[]): Promise<void> {
  while (!ended.isOver) {
    const response = await fetch(`${url}/api/search?q=${encodeURIComponent(query)}`)
    const text = await response.text()
    ended.searches += 1
    const isDeadline = response.status === 503 && text.includes('"code":"deadline"')
    if (isDeadline) ended.cutShort += 1
    if (!response.ok && !isDeadline) faults.push(`a search was answered ${response.status}: ${text.slice(0, 200)}`)
  }
}
