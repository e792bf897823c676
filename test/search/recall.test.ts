import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCorpus } from './corpus/make-corpus.ts'
import { indexCorpus } from './corpus/write-corpus.ts'
import type { Engine, Hit } from './evaluate/engine.ts'
import { RANK_FLOOR, RECALL_FLOOR } from './evaluate/floors.ts'
import { goalsOf } from './evaluate/goals.ts'
import { measure, namesIn, summarise, type KindScore, type Measured } from './evaluate/measure.ts'
import { missesOf } from './evaluate/misses.ts'
import { product } from './evaluate/product.ts'
import { miniSearch, plainFts } from './evaluate/rivals.ts'
import { tableOf } from './evaluate/table.ts'
import { textsOf } from './evaluate/texts.ts'
import { halves, questions, type Question } from './queries/index.ts'

let remove = (): void => {}
let engine: Engine
let measured: readonly Measured[]
let own: readonly KindScore[]
let table: string

beforeAll(() => {
  const indexed = indexCorpus(makeCorpus())
  remove = indexed.remove
  const { mirror } = indexed.indexer
  engine = product(mirror)
  measured = measure(engine, questions)
  own = summarise(measured)
  const texts = textsOf(mirror)
  const rivals = [
    { name: 'FTS5 unicode61', scores: summarise(measure(plainFts(texts), questions)) },
    { name: 'MiniSearch', scores: summarise(measure(miniSearch(texts), questions)) },
  ]
  table = tableOf([{ name: 'cursordex', scores: own }, ...rivals], goalsOf(own, rivals))
})

afterAll(() => remove())

test('the table', () => {
  console.log(table)
  const half = halves.find((each) => each === process.env['SHOW_MISSES'])
  if (half !== undefined) console.log(missesOf(measured, half))
  expect(table).toContain('held-back')
})

test('the search finds no less than before', () => {
  const worse = own.flatMap(({ half, kind, recallAt10, reciprocalRank }) => {
    const isWorse = recallAt10 < RECALL_FLOOR || reciprocalRank < RANK_FLOOR
    return isWorse ? [`${half} ${kind ?? 'all'}: ${recallAt10.toFixed(3)}, ${reciprocalRank.toFixed(3)}`] : []
  })
  expect(worse).toEqual([])
})

test('no hit fails to match the query', () => {
  const wrong = own.filter(({ kind, isWrong }) => kind !== null && isWrong > 0).map(({ kind }) => kind)
  expect(wrong).toEqual([])
})

describe('the evaluator detects bad answers', () => {
  const documents = ({ from }: Question, names: string): readonly Hit[] =>
    namesIn(names).map((name) => ({ messageId: `${from.id}-${name}`, chatId: '' }))
  /** An engine that gets the question, not only its words. */
  const knowing =
    (find: (question: Question) => readonly Hit[]): Engine =>
    (ask) => {
      const question = questions.find((each) => each.ask === ask)
      return { hits: question === undefined ? [] : find(question), spellings: [] }
    }

  test('no answer scores 0', () => {
    for (const score of summarise(measure(() => ({ hits: [], spellings: [] }), questions))) {
      expect(score).toMatchObject({ recallAt1: 0, recallAt10: 0, reciprocalRank: 0, isWrong: 0 })
    }
  })

  test('the right answer scores 1', () => {
    const sage = knowing((question) => documents(question, `${question.ask.best ?? ''} ${question.ask.want}`))
    for (const score of summarise(measure(sage, questions))) {
      expect(score).toMatchObject({ recallAt1: 1, recallAt10: 1, reciprocalRank: 1, isWrong: 0 })
    }
  })

  test('a reversed answer scores low', () => {
    const ranked = questions.filter(({ ask }) => ask.best !== undefined && namesIn(ask.want).length > 1)
    expect(ranked.length).toBeGreaterThanOrEqual(7)
    const turned: Engine = (ask) => ({ hits: engine(ask).hits.toReversed(), spellings: [] })
    const meanRank = (scores: readonly Measured[]): number =>
      scores.reduce((sum, { score }) => sum + score.reciprocalRank, 0) / scores.length
    expect(meanRank(measure(turned, ranked))).toBeLessThan(0.6 * meanRank(measure(engine, ranked)))
  })

  test('a hit that does not match is reported', () => {
    const strict = questions.filter(({ ask }) => ask.never !== undefined)
    const careless = knowing((question) => documents(question, `${question.ask.want} ${question.ask.never ?? ''}`))
    expect(measure(careless, strict).filter(({ score }) => score.isWrong === 0)).toEqual([])
  })

  test('the right word as first suggestion counts as found, but as second it does not', () => {
    const misspelt = questions.filter(({ ask }) => ask.spelling !== undefined)
    const suggesting =
      (...before: readonly string[]): Engine =>
      ({ spelling = '' }) => ({ hits: [], spellings: [...before, spelling] })
    expect(measure(suggesting(), misspelt).map(({ score }) => score.reciprocalRank)).toEqual(misspelt.map(() => 1))
    expect(measure(suggesting('wrong'), misspelt).map(({ score }) => score.reciprocalRank)).toEqual(
      misspelt.map(() => 0),
    )
  })
})
