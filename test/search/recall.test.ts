import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { requestOf } from '../helpers/search-request.ts'
import { makeCorpus, NOW_MS } from './corpus/make-corpus.ts'
import { foldText, looked, lookFor } from './corpus/sought.ts'
import { indexCorpus } from './corpus/write-corpus.ts'
import { questions, type Ask, type Question } from './scenes.ts'

/** How many hits are evaluated: the first page of an answer. */
const LOOKED_AT = 10

/** What a search answers, best first. A hit without a message is a chat that was found by its title. */
interface Answer {
  readonly hits: readonly { readonly messageId: string | null; readonly chatId: string }[]
  readonly spellings?: readonly string[]
}

interface Score {
  /** The share of wanted documents among the first ten. */
  readonly recall: number
  /** 1 divided by the place of the best document, or of the first wanted one; 0 after the tenth. */
  readonly rank: number
  /** Whether one of the first ten does not match by the rules of the language. */
  readonly isWrong: boolean
}

const perfect: Score = { recall: 1, rank: 1, isWrong: false }

const chats = makeCorpus()
let remove = (): void => {}
let mirror: Mirror

beforeAll(async () => {
  const indexed = await indexCorpus(chats)
  remove = indexed.remove
  mirror = indexed.indexer.mirror
})
afterAll(() => remove())

/** The function behind HTTP and the command line, called with only the query and the time of the corpus. */
function product({ q }: Ask): Answer {
  const request = requestOf(q, { limit: LOOKED_AT, clock: { timeZone: 'UTC', nowMs: NOW_MS } })
  const { items, suggestions } = search(mirror, request)
  return {
    hits: items.map(({ message, part }) => ({
      messageId: part === 'title' ? null : message.id,
      chatId: message.chatId,
    })),
    spellings: suggestions.filter(({ reason }) => reason === 'spelling').map(({ text }) => text),
  }
}

test('every question is answered: all wanted documents, the best one first, and no hit that does not match', () => {
  const scores = questions.map((question) => ({ question, score: scoreOf(question, product(question.ask)) }))
  const meanOf = (figure: 'recall' | 'rank'): string =>
    (scores.reduce((sum, { score }) => sum + score[figure], 0) / scores.length).toFixed(3)
  console.log(`${scores.length} questions: recall@10 ${meanOf('recall')}, MRR ${meanOf('rank')}`)
  const missed = scores.filter(({ score }) => score.recall < 1 || score.rank < 1 || score.isWrong)
  expect(
    missed.map(({ question: { ask, from }, score }) => ({ half: from.half, id: from.id, q: ask.q, ...score })),
  ).toEqual([])
})

describe('the questions', () => {
  test('are as many as README.md says, of all kinds in both halves', () => {
    expect(questions).toHaveLength(367)
    const groups = questions.map(({ from }) => `${from.kind}, ${from.half}`)
    expect(new Set(groups).size).toBe(2 * 22)
    expect(groups.filter((name) => groups.filter((each) => each === name).length < 3)).toEqual([])
  })

  test('are asked of a corpus that is large enough for ranking to matter, and always the same', () => {
    const messages = chats.flatMap((chat) => chat.messages)
    expect([chats.length, messages.length, new Set(messages.map(({ id }) => id)).size]).toEqual([315, 4285, 4285])
    expect(makeCorpus()).toEqual(chats)
  })

  test('name documents of their scene', () => {
    const unknown = questions.flatMap(({ ask, from }) =>
      namesIn(`${ask.want} ${ask.best ?? ''} ${ask.never ?? ''}`)
        .filter((name) => !(name in from.docs))
        .map((name) => `${ask.q}: ${name}`),
    )
    expect(unknown).toEqual([])
  })

  test('have complete answers: no message or title that was not made for a question has its words', () => {
    const suspects = chats.flatMap(({ id: chatId, title, messages }) => {
      const own = messages.find(({ id }) => chatId === `own-${id}`)?.sceneId ?? null
      return [
        ...messages.map(({ id, sceneId, message }) => ({ id, sceneId, ...looked(JSON.stringify(message)) })),
        { id: `title of ${chatId}`, sceneId: own, ...looked(title) },
      ]
    })
    const strangers = questions.flatMap(({ ask, from }) => {
      const isThere = lookFor(ask)
      if (ask.isCommon === true) return []
      return suspects.filter((each) => each.sceneId !== from.id && isThere(each)).map(({ id }) => `${ask.q}: ${id}`)
    })
    expect(strangers).toEqual([])
  })
})

describe('the measure', () => {
  const from = { id: 'kind-0', kind: 'kind', half: 'tuning', docs: {}, asks: [] } satisfies Question['from']
  const none: Score = { recall: 0, rank: 0, isWrong: false }
  const ranked = { want: 'one two', best: 'one', never: 'near' }
  const misspelt = { want: 'one', spelling: 'right' }

  test.each<[string, Omit<Ask, 'q'>, readonly string[], readonly string[], Score]>([
    ['no answer', ranked, [], [], none],
    ['the right answer', ranked, ['one', 'two'], [], perfect],
    ['a turned answer', ranked, ['two', 'one'], [], { ...perfect, rank: 0.5 }],
    ['half of the answer, without the best', ranked, ['two'], [], { ...none, recall: 0.5 }],
    ['any order, if none is the best', { want: 'one two' }, ['two', 'one'], [], perfect],
    ['an answer on the second page', { want: 'one' }, [...Array<string>(10).fill('other'), 'one'], [], none],
    ['a hit that does not match', ranked, ['one', 'two', 'near'], [], { ...perfect, isWrong: true }],
    ['the right word as first suggestion', misspelt, [], ['Right', 'wrong'], perfect],
    ['the right word as second suggestion', misspelt, [], ['wrong', 'right'], none],
  ])('%s', (_, ask, found, spellings, score) => {
    const hits = found.map((name) => ({ messageId: `kind-0-${name}`, chatId: 'any' }))
    expect(scoreOf({ ask: { q: '', ...ask }, from }, { hits, spellings })).toEqual(score)
  })

  test('the title of a wanted chat counts if the question is about chats', () => {
    const hits = [{ messageId: null, chatId: 'own-kind-0-one' }]
    expect(scoreOf({ ask: { q: '', want: 'one', isOfChat: true }, from }, { hits })).toEqual(perfect)
    expect(scoreOf({ ask: { q: '', want: 'one' }, from }, { hits })).toEqual(none)
  })
})

function scoreOf({ ask, from }: Question, { hits, spellings: [spelling] = [] }: Answer): Score {
  const first = hits.slice(0, LOOKED_AT)
  const placesOf = (names: string): readonly number[] =>
    namesIn(names).map((name) => {
      const id = `${from.id}-${name}`
      // A chat that was made for a message is named after it.
      return first.findIndex((hit) => hit.messageId === id || (ask.isOfChat === true && hit.chatId === `own-${id}`))
    })
  const wanted = placesOf(ask.want)
  const found = wanted.filter((place) => place >= 0)
  const isWrong = placesOf(ask.never ?? '').some((place) => place >= 0)
  const isSuggested =
    ask.spelling !== undefined && spelling !== undefined && foldText(spelling).includes(foldText(ask.spelling))
  if (found.length === 0 && isSuggested) return { ...perfect, isWrong }
  const [best = -1] = ask.best === undefined ? found.toSorted((one, other) => one - other) : placesOf(ask.best)
  return {
    recall: found.length / Math.min(wanted.length, LOOKED_AT),
    rank: best < 0 ? 0 : 1 / (best + 1),
    isWrong,
  }
}

const namesIn = (names: string): readonly string[] => names.split(' ').filter((name) => name !== '')
