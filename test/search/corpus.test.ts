import { expect, test } from 'vitest'
import { makeCorpus } from './corpus/make-corpus.ts'
import { strangersIn, unknownNames } from './evaluate/audit.ts'
import { halves, kinds, questions } from './queries/index.ts'

const chats = makeCorpus()

test('the corpus is large enough for ranking to matter, and is deterministic', () => {
  const messages = chats.flatMap((chat) => chat.messages)
  expect(chats.length).toBeGreaterThanOrEqual(280)
  expect(messages.length).toBeGreaterThanOrEqual(3000)
  expect(messages.length).toBeLessThanOrEqual(5000)
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
  expect(makeCorpus()).toEqual(chats)
})

test('every kind has questions in both halves', () => {
  expect(questions.length).toBeGreaterThanOrEqual(200)
  for (const half of halves) {
    for (const kind of kinds) {
      const mine = questions.filter(({ from }) => from.half === half && from.kind === kind)
      expect(mine.length, `${kind}, ${half}`).toBeGreaterThanOrEqual(3)
    }
  }
})

test('the answers are complete: no other text has the words of a question', () => {
  expect(unknownNames(questions)).toEqual([])
  expect(strangersIn(chats, questions)).toEqual([])
})
