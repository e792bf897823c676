import { Chance } from '../../../helpers/cursor.ts'
import { createTestApi } from '../../../api/http/test-api.ts'
import { indexTerms } from '../../../../src/text/terms/terms.ts'
import type { SeededMirror } from '../../../helpers/seed-mirror.ts'
import { encoded, randomQuery } from './random-query.ts'

interface Answer {
  readonly total?: unknown
  readonly items?: readonly unknown[]
  readonly warnings?: readonly unknown[]
}

const MESSAGES = 80
const texts = ['plum lorem getUserName', '数据库 ตัว é', "don't a 0 src/api/search.ts", 'NEAR title match rebuild']

function fill(mirror: SeededMirror): void {
  const chat = mirror.addChat({ id: 'talk', title: 'Plum talk' })
  const index = mirror.writer.prepare('insert into message_terms (rowid, text) values (?, ?)')
  for (let at = 0; at < MESSAGES; at += 1) {
    const text = `${texts[at % texts.length]} w${at}`
    const key = mirror.addMessage(chat, { id: `m${at}`, parts: [{ kind: 'text', text }] })
    index.run(BigInt(key), indexTerms(text))
  }
}

export interface Searched {
  readonly searches: number
  readonly withHits: number
  readonly faults: readonly string[]
}

/** Random searches over HTTP. The same seed gives the same searches. */
export async function askSearches(seed: string, count: number): Promise<Searched> {
  const world = createTestApi()
  fill(world.mirror)
  const chance = new Chance(seed)
  const faults: string[] = []
  let withHits = 0
  try {
    for (let at = 0; at < count; at += 1) {
      const query = randomQuery(chance, at)
      const sort = chance.pick([
        '',
        '&sort=newest',
        '&sort=oldest',
        '&chat=talk',
        '&role=user',
        '&limit=200',
        '&offset=10000',
      ])
      const response = await world.ask(`/api/search?q=${encoded(query)}${sort}`)
      const answer = (await response.json()) as Answer
      const isWhole = typeof answer.total === 'number' && Array.isArray(answer.items) && Array.isArray(answer.warnings)
      if (response.status !== 200 || !isWhole)
        faults.push(`${response.status} to ${JSON.stringify(query).slice(0, 200)}`)
      if ((answer.items?.length ?? 0) > 0) withHits += 1
    }
    faults.push(...world.faults.map(String))
    return { searches: count, withHits, faults }
  } finally {
    world.dispose()
  }
}
