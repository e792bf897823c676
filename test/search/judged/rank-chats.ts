import MiniSearch from 'minisearch'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { isTuning, piecesOf, queryKinds, type JudgedChat, type JudgedQuery, type QueryKind } from './judged-set.ts'

/** Ids of chats without duplicates, the best first. */
export type Ranker = (q: string) => readonly string[]

/** What a user sees: the chats of the hits, and below them the related chats. */
export function cursordex(mirror: Mirror): Ranker {
  return (q) => {
    const { items, related } = search(mirror, requestOf(q, {}))
    return [...new Set([...items, ...related].map(({ chat }) => chat.id))]
  }
}

/** MiniSearch with default settings: any word matches, and a chat is one document. */
export function miniSearch(chats: readonly JudgedChat[]): Ranker {
  const index = new MiniSearch({ fields: ['title', 'text'] })
  index.addAll(chats.map(({ id, title, messages }) => ({ id, title, text: messages.flatMap(piecesOf).join('\n') })))
  return (q) => index.search(q).map(({ id }) => String(id))
}

export interface Figures {
  readonly half: 'tuning' | 'held back'
  readonly kind: QueryKind | 'all'
  readonly count: number
  readonly recallAt10: number
  readonly reciprocalRank: number
}

const LOOKED_AT = 10

export function measure(rank: Ranker, queries: readonly JudgedQuery[]): readonly Figures[] {
  const places = queries.map((query) => ({ query, place: rank(query.q).slice(0, LOOKED_AT).indexOf(query.chat) }))
  return (['tuning', 'held back'] as const).flatMap((half) =>
    ([...queryKinds, 'all'] as const).map((kind) => {
      const own = places.filter(
        ({ query }) => isTuning(query) === (half === 'tuning') && (kind === 'all' || query.kind === kind),
      )
      const mean = (figure: (place: number) => number): number =>
        own.reduce((sum, { place }) => sum + figure(place), 0) / own.length
      return {
        half,
        kind,
        count: own.length,
        recallAt10: mean((place) => (place >= 0 ? 1 : 0)),
        reciprocalRank: mean((place) => (place >= 0 ? 1 / (place + 1) : 0)),
      }
    }),
  )
}

/** A comparison with one line per half and kind. */
export function tableOf(engines: readonly { readonly name: string; readonly figures: readonly Figures[] }[]): string {
  const head = `${'half'.padEnd(10)}${'kind'.padEnd(10)}${'n'.padStart(4)}${engines.map(({ name }) => `  ${name.padEnd(12)}`).join('')}`
  const [first] = engines
  const lines = (first?.figures ?? []).map(({ half, kind, count }, at) => {
    const cells = engines.map(({ figures }) => {
      const { recallAt10 = 0, reciprocalRank = 0 } = figures[at] ?? {}
      return `  ${recallAt10.toFixed(3)} ${reciprocalRank.toFixed(3)} `
    })
    return `${half.padEnd(10)}${kind.padEnd(10)}${String(count).padStart(4)}${cells.join('')}`
  })
  return [`recall@10 and MRR`, head, ...lines].join('\n')
}
