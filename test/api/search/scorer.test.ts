import { expect, test } from 'vitest'
import { parseQuery } from '../../../src/api/search/language/parse.ts'
import { planQuery } from '../../../src/api/search/plan/plan.ts'
import { askWords, fitText, type TextFit } from '../../../src/api/search/scorer.ts'
import { openTestMirror } from '../../helpers/mirror-rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const db = openTestMirror()

function fit(q: string, text: string): TextFit {
  const { tree } = parseQuery(q)
  const { words } = planQuery(db, tree === null ? [] : [tree], { timeZone: 'UTC', nowMs: 0 })
  return fitText(text, askWords(words), null)
}

// 0.9: the whole name; 0.54: a part of a name.
test.each(cases<[string, string, string, number]>('scores'))('%s: %s in %s', (_, q, text, expected) => {
  expect(fit(q, text).words[0]).toBeCloseTo(expected, 5)
})

test('words that together are a whole name count as whole', () => {
  expect(fit('get user name', 'getUserName(1)').words.map((figure) => figure.toFixed(2))).toEqual([
    '0.90',
    '0.90',
    '0.90',
  ])
  expect(fit('get user name', 'getUserNameFrom(1)').words.map((figure) => figure.toFixed(2))).toEqual([
    '0.90',
    '0.90',
    '0.54',
  ])
})

test('more occurrences score slightly higher', () => {
  expect(fit('ibis', 'ibis and ibis').words[0]).toBeGreaterThan(fit('ibis', 'an ibis').words[0] ?? 1)
})

test.each(cases<[string, string, string, string]>('better and worse'))('%s', (_, q, better, worse) => {
  expect(fit(q, better).pairs[0]).toBeGreaterThan(fit(q, worse).pairs[0] ?? 1)
})

test('adjacent words score 1 anywhere in the text', () => {
  expect(fit('stork batch', `a batch for a stork. ${'x '.repeat(300)} the stork batch`).pairs).toEqual([1])
  expect(fit('stork batch', 'stork_batch').pairs).toEqual([1])
  expect(fit('白鹭 缓存', '先做白鹭缓存预热').pairs).toEqual([1])
})
