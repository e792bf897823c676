import { expect, test } from 'vitest'
import { parseQuery } from '../../../src/api/search/language/parse.ts'
import { planQuery } from '../../../src/api/search/plan/plan.ts'
import { askWords, fitText, type TextFit } from '../../../src/api/search/scorer.ts'
import { openTestMirror } from '../../helpers/mirror-rows.ts'

const db = openTestMirror()

function fit(q: string, text: string): TextFit {
  const { tree } = parseQuery(q)
  const { words } = planQuery(db, tree === null ? [] : [tree], { timeZone: 'UTC', nowMs: 0 })
  return fitText(text, askWords(words), null)
}

const WHOLE = 0.9
const PART = 0.54

test.each([
  ['a name as typed', 'ibisIndex', 'the ibisIndex is rebuilt', WHOLE],
  ['in another spelling', 'ibisIndex', 'the ibis_index is rebuilt', WHOLE],
  ['at the end of a sentence', 'ibisIndex', 'See ibisIndex.', WHOLE],
  ['in quotes and underscores', 'ibis', 'the _ibis_ and so on', WHOLE],
  ['a longer name that begins with it', 'ibisIndex', 'ibisIndexBuilder()', PART],
  ['a longer name that ends with it', 'ibisIndex', 'const myIbisIndex = 1', PART],
  ['a longer name with hyphens', 'ibisIndex', 'ibis-index-builder', PART],
  ['whose beginning was asked for', 'ibisInd*', 'ibisIndexBuilder()', WHOLE],
  ['unspaced words have no edges', '数据', '我的数据库很大', WHOLE],
  ['a word that is not there', 'ibis', 'a stork', 0],
])('%s: %s in %s', (_, q, text, expected) => {
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

test.each([
  ['adjacent beats a word between', 'stork batch', 'the stork batch', 'the stork small batch'],
  [
    'a word between beats a sentence between',
    'stork batch',
    'the stork small batch',
    'a stork is a bird, and this is a batch',
  ],
  ['in order beats reversed', 'tern wren', 'from tern to wren', 'from wren to tern'],
  ['within a sentence beats across its end', 'stork batch', 'the stork batch', 'the stork. batch'],
  ['unspaced neighbours beat those apart', '白鹭 缓存', '先做白鹭缓存', '白鹭的缓存'],
  ['far apart beats missing', 'stork batch', `stork ${'x '.repeat(300)} batch`, 'stork'],
])('%s', (_, q, better, worse) => {
  expect(fit(q, better).pairs[0]).toBeGreaterThan(fit(q, worse).pairs[0] ?? 1)
})

test('adjacent words score 1 anywhere in the text', () => {
  expect(fit('stork batch', `a batch for a stork. ${'x '.repeat(300)} the stork batch`).pairs).toEqual([1])
  expect(fit('stork batch', 'stork_batch').pairs).toEqual([1])
  expect(fit('白鹭 缓存', '先做白鹭缓存预热').pairs).toEqual([1])
})
