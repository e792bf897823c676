import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMatcher } from '../../src/text/matcher.ts'
import { makeSnippet } from '../../src/text/snippet.ts'

const word = (...terms: string[]) => ({ terms, isPrefix: false })
const prefix = (...terms: string[]) => ({ terms, isPrefix: true })

describe('a snippet', () => {
  test.each([
    ['marks a word as it was spelt', 'The Needle lies', [word('needle')], 'The <mark>Needle</mark> lies'],
    ['marks parts of an identifier', 'call getUserName()', [word('user', 'name')], 'call get<mark>UserName</mark>()'],
    ['marks an identifier whole', 'get_user_name', [word('get', 'user', 'name')], '<mark>get_user_name</mark>'],
    ['marks each word of a phrase', 'user name', [word('user', 'name')], '<mark>user</mark> <mark>name</mark>'],
    ['does not mark parts that stand apart', 'user of name', [word('user', 'name')], 'user of name'],
    ['marks the whole word for a prefix', 'configuration', [prefix('conf')], '<mark>configuration</mark>'],
    ['marks signs inside unspaced text', '我的数据库很大', [word('数据', '据库')], '我的<mark>数据库</mark>很大'],
    ['marks one sign alone', '数据库很大', [prefix('库')], '数据<mark>库</mark>很大'],
    ['marks across an accent', 'Un Étudiant', [word('etudiant')], 'Un <mark>Étudiant</mark>'],
    [
      'merges overlapping marks',
      'a b c',
      [word('a', 'b'), word('b', 'c')],
      '<mark>a</mark> <mark>b</mark> <mark>c</mark>',
    ],
    [
      'escapes markup',
      `<b title="x">'&'</b>`,
      [word('b')],
      '&lt;<mark>b</mark> title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/<mark>b</mark>&gt;',
    ],
    ['escapes inside a mark', 'user<name', [word('user', 'name')], '<mark>user&lt;name</mark>'],
    ['blanks control characters, not line breaks', 'a\u001b[31m\tb\nc\u0007', [], 'a [31m\tb\nc '],
    ['is empty for nothing', '', [word('a')], ''],
  ])('%s', (_, text, phrases, html) => {
    expect(makeSnippet(text, createMatcher(phrases))).toBe(html)
  })

  test('shows the passage with the most different words', () => {
    const text = `${'alpha filler '.repeat(100)}the alpha meets the beta here${' filler'.repeat(100)}`
    const snippet = makeSnippet(text, createMatcher([word('alpha'), word('beta')]))
    expect(snippet).toContain('<mark>alpha</mark> meets the <mark>beta</mark>')
    expect(snippet.startsWith('…') && snippet.endsWith('…')).toBe(true)
  })

  test('finds a word behind a megabyte of others within three seconds', () => {
    const text = `${'some filler words and getUserName here '.repeat(27_000)} needle at the end`
    const startedAt = performance.now()
    expect(makeSnippet(text, createMatcher([word('needle')]))).toContain('<mark>needle</mark> at the end')
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })

  test('never cuts a sign in two', () => {
    const sign = fc.constantFrom('👩‍👩‍👧', 'é', '👍🏽', '𠀀', 'a', ' ', 'x́')
    fc.assert(
      fc.property(fc.array(sign, { minLength: 1, maxLength: 80 }), fc.integer({ min: 5, max: 60 }), (signs, length) => {
        const text = signs.join('').normalize('NFD')
        const snippet = makeSnippet(text, createMatcher([word('a')]), length)
        expect(snippet).not.toContain('\ufffd')
        expect(snippet.replaceAll(/<\/?mark>/g, '')).not.toMatch(/^…[\p{M}\u200d]/u)
        expect(text).toContain(snippet.replaceAll(/<\/?mark>|^…|…$/g, ''))
      }),
    )
  })

  test('whatever the text and the query, only marks are markup', () => {
    const piece = fc.oneof(fc.constantFrom('<', '>', '"', '&', 'a', 'ab ', "'", '<mark>', '…'), fc.string())
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (pieces, length) => {
        const text = pieces.join('')
        const snippet = makeSnippet(text, createMatcher([prefix('a'), word('mark')]), length)
        const rest = snippet.replaceAll(/<mark>[^<>]*<\/mark>/g, '')
        expect(rest).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/)
      }),
    )
  })
})
