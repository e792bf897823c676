import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { Chance } from '../../helpers/cursor.ts'
import { tokenize } from '../../../src/text/terms/terms.ts'
import { readJson } from '../../helpers/cases.ts'
import { requestOf } from '../../helpers/search-request.ts'
import { copiedLines, indexChats, judgedChats, judgedQueries, piecesOf, type JudgedQuery } from './judged-set.ts'
import { makeOthers } from './other-chats.ts'

const OTHERS = 2000
/** For each kind what MiniSearch finds in the same chats, and 0.02 less than how well it ranks them. For all, our own figures. */
const floors = readJson(import.meta.url, 'floors.json') as Figures[]

type Figures = Readonly<Record<'half' | 'kind', string> & Record<'recall@10' | 'MRR', number>>

const chats = new Chance('order').shuffled([...judgedChats, ...makeOthers(judgedChats, OTHERS)])
let mirror: Mirror
let remove: () => void
beforeAll(async () => {
  const indexed = await indexChats(chats)
  remove = indexed.remove
  mirror = indexed.indexer.mirror
})
afterAll(() => remove())

/** What a user sees, by id: the chats of the hits, and below them the related chats. */
function rank(q: string): readonly string[] {
  const { items, related } = search(mirror, requestOf(q, {}))
  return [...new Set([...items, ...related].map(({ chat }) => chat.id))].slice(0, 10)
}

/** Weights are chosen on one half and reported on the other. Four consecutive chats, with all kinds of queries, are in one half. */
const halfOf = ({ chat }: JudgedQuery): string =>
  Math.floor((Number(chat.slice(1)) - 1) / 4) % 2 === 0 ? 'tuning' : 'held back'

/** `all` stands for all kinds, `both` for both halves. */
const isIn = (query: JudgedQuery, { half, kind }: Pick<Figures, 'half' | 'kind'>): boolean =>
  [halfOf(query), 'both'].includes(half) && [query.kind, 'all'].includes(kind)

test('the set is as README.md describes it', () => {
  expect(judgedChats.length).toBeGreaterThanOrEqual(100)
  expect(judgedQueries.length).toBeGreaterThanOrEqual(300)
  const ids = new Set(judgedChats.map(({ id }) => id))
  expect(judgedQueries.filter(({ chat }) => !ids.has(chat))).toEqual([])
  for (const { kind, half } of floors) {
    const group = judgedQueries.filter((query) => isIn(query, { kind, half }))
    expect(group.length, `${half} ${kind}`).toBeGreaterThan(35)
  }
})

test('the search finds no less than before, and for no kind less than MiniSearch', () => {
  const places = judgedQueries.map((query) => ({ query, place: rank(query.q).indexOf(query.chat) }))
  const measured = floors.map((floor) => {
    const group = places.filter(({ query }) => isIn(query, floor))
    const meanOf = (figure: (place: number) => number): number =>
      group.reduce((sum, { place }) => sum + (place < 0 ? 0 : figure(place)), 0) / group.length
    return { ...floor, 'recall@10': meanOf(() => 1), MRR: meanOf((place) => 1 / (place + 1)), floor }
  })
  for (const { half, kind, MRR, 'recall@10': recall } of measured) {
    console.log(`${half} ${kind}: recall@10 ${recall.toFixed(3)}, MRR ${MRR.toFixed(3)}`)
  }
  const worse = measured.filter(({ floor, ...own }) => own['recall@10'] < floor['recall@10'] || own.MRR < floor.MRR)
  expect(worse).toEqual([])
})

test('for 59 of 60 lines copied from chats, the chat is among the first ten', () => {
  const lines = copiedLines.slice(0, 60)
  expect(lines).toHaveLength(60)
  const missed = lines.filter(({ chat, line }) => !rank(line).includes(chat))
  console.log(`${60 - missed.length} of 60 copied lines bring their chat into the first ten`)
  expect(missed.slice(1)).toEqual([])
})

test('no chat is reported to lack a word that it has', () => {
  const termsOf = new Map(
    chats.map(({ id, title, messages }) => {
      const texts = [title, ...messages.flatMap(piecesOf)]
      return [id, new Set(texts.flatMap((text) => tokenize(text).map(({ term }) => term)))]
    }),
  )
  const wrong = judgedQueries
    .slice(0, 50)
    .flatMap(({ q }) =>
      search(mirror, requestOf(q)).related.flatMap(({ chat, missing }) =>
        missing.filter((word) => tokenize(word).every(({ term }) => termsOf.get(chat.id)?.has(term) === true)),
      ),
    )
  expect(wrong).toEqual([])
})
