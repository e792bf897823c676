import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { Chance } from '../../../src/sample/chance.ts'
import { tokenize } from '../../../src/text/terms/terms.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { indexChats, judgedChats, judgedQueries, piecesOf, queryKinds } from './judged-set.ts'
import { makeOthers } from './other-chats.ts'
import { cursordex, measure, miniSearch, tableOf, type Figures, type Ranker } from './rank-chats.ts'

const OTHERS = 2000
const LINES = 500
/** The figures at the last change of this file, over all queries of both halves. */
const RECALL_FLOOR = 0.84
const RANK_FLOOR = 0.72

const chats = new Chance('order').shuffled([...judgedChats, ...makeOthers(judgedChats, OTHERS)])
let mirror: Mirror
let rank: Ranker
let own: readonly Figures[]
let rival: readonly Figures[]
let remove: () => void

beforeAll(() => {
  const indexed = indexChats(chats)
  remove = indexed.remove
  mirror = indexed.indexer.mirror
  rank = cursordex(mirror)
  own = measure(rank, judgedQueries)
  rival = measure(miniSearch(chats), judgedQueries)
})
afterAll(() => remove())

test('the set is as README.md describes it', () => {
  expect(judgedChats.length).toBeGreaterThanOrEqual(100)
  expect(judgedQueries.length).toBeGreaterThanOrEqual(300)
  const ids = new Set(judgedChats.map(({ id }) => id))
  expect(judgedQueries.filter(({ chat }) => !ids.has(chat))).toEqual([])
  for (const kind of queryKinds) expect(judgedQueries.filter((query) => query.kind === kind).length).toBeGreaterThan(70)
})

test('the table', () => {
  const engines = [
    { name: 'cursordex', figures: own },
    { name: 'MiniSearch', figures: rival },
  ]
  console.log(tableOf(engines))
  expect(own).toHaveLength(rival.length)
})

test('for no kind does MiniSearch find more, or rank clearly better', () => {
  const worse = own.flatMap(({ half, kind, recallAt10, reciprocalRank }, at) => {
    const other = rival[at]
    const isWorse = other === undefined || recallAt10 < other.recallAt10 || reciprocalRank < other.reciprocalRank - 0.02
    return isWorse ? [{ half, kind, recallAt10, reciprocalRank, other }] : []
  })
  expect(worse).toEqual([])
})

test('the search finds no less than before', () => {
  const halves = own.filter(({ kind }) => kind === 'all')
  const mean = (figure: 'recallAt10' | 'reciprocalRank'): number =>
    halves.reduce((sum, half) => sum + half[figure] * half.count, 0) / judgedQueries.length
  expect(mean('recallAt10')).toBeGreaterThanOrEqual(RECALL_FLOOR)
  expect(mean('reciprocalRank')).toBeGreaterThanOrEqual(RANK_FLOOR)
})

test('for 99 % of 500 lines copied from chats, the chat is among the first ten', () => {
  const lines = drawLines(LINES)
  expect(lines).toHaveLength(LINES)
  const missed = lines.filter(({ chat, line }) => !rank(line).slice(0, 10).includes(chat))
  console.log(`${lines.length - missed.length} of ${lines.length} copied lines bring their chat into the first ten`)
  expect(missed.slice(LINES / 100)).toEqual([])
})

test('no chat is reported to lack a word that it has', () => {
  const termsOf = new Map(
    chats.map(({ id, title, messages }) => {
      const texts = [title, ...messages.flatMap(piecesOf)]
      return [id, new Set(texts.flatMap((text) => tokenize(text).map(({ term }) => term)))]
    }),
  )
  const wrong = judgedQueries
    .slice(0, 100)
    .flatMap(({ q }) =>
      search(mirror, requestOf(q)).related.flatMap(({ chat, missing }) =>
        missing.filter((word) => tokenize(word).every(({ term }) => termsOf.get(chat.id)?.has(term) === true)),
      ),
    )
  expect(wrong).toEqual([])
})

test('the evaluator gives wrong answers a low score', () => {
  const nothing = measure(() => [], judgedQueries)
  expect(nothing.every(({ recallAt10, reciprocalRank }) => recallAt10 + reciprocalRank === 0)).toBe(true)
  const knowing = new Map(judgedQueries.map(({ q, chat }) => [q, chat]))
  const all = measure((q) => [knowing.get(q) ?? ''], judgedQueries)
  expect(all.every(({ recallAt10, reciprocalRank }) => recallAt10 === 1 && reciprocalRank === 1)).toBe(true)
})

/**
 * Lines of judged chats with three or more words, as a user would copy them. A line is left out if one message of a
 * generated chat has all of its words: those repeat lines of code almost unchanged, so the right chat would be unclear.
 */
function drawLines(count: number): readonly { readonly chat: string; readonly line: string }[] {
  const madeUp = chats
    .filter(({ id }) => id.startsWith('other'))
    .flatMap(({ messages }) => messages.map((message) => new Set(wordsOf(piecesOf(message).join('\n')))))
  const lines = judgedChats.flatMap(({ id, messages }) =>
    messages
      .flatMap(piecesOf)
      .flatMap((piece) => piece.split('\n'))
      .map((line) => ({ chat: id, line: line.trim() })),
  )
  const drawn: { readonly chat: string; readonly line: string }[] = []
  for (const each of new Chance('lines').shuffled(lines)) {
    const words = wordsOf(each.line)
    if (words.length < 3 || madeUp.some((held) => words.every((word) => held.has(word)))) continue
    drawn.push(each)
    if (drawn.length === count) break
  }
  return drawn
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
