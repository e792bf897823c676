import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMatcher, type TermMatcher, type TermPhrase } from '../../src/text/passages/matcher.ts'
import { makeSnippet } from '../../src/text/passages/snippet.ts'
import { tokenize } from '../../src/text/terms/terms.ts'
import { startCpuClock } from '../helpers/cpu-time.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const snippetOf = (text: string, matcher: TermMatcher, length?: number): string =>
  makeSnippet(text, matcher.find(text), length)
const word = (...terms: string[]) => ({ terms, isPrefix: false })
const prefix = (...terms: string[]) => ({ terms, isPrefix: true })

describe('a snippet', () => {
  test.each(cases<[what: string, text: string, phrases: TermPhrase[], html: string]>('snippets'))(
    '%s',
    (_, text, phrases, html) => {
      expect(snippetOf(text, createMatcher(phrases))).toBe(html)
    },
  )

  test('shows the passage with the most different words', () => {
    const text = `${'alpha filler '.repeat(100)}the alpha meets the beta here${' filler'.repeat(100)}`
    const snippet = snippetOf(text, createMatcher([word('alpha'), word('beta')]))
    expect(snippet).toContain('<mark>alpha</mark> meets the <mark>beta</mark>')
    expect(snippet.startsWith('…') && snippet.endsWith('…')).toBe(true)
  })

  test('finds a word after a megabyte of others within three seconds', () => {
    const text = `${'some filler words and getUserName here '.repeat(27_000)} needle at the end`
    const cpuMs = startCpuClock()
    expect(snippetOf(text, createMatcher([word('needle')]))).toContain('<mark>needle</mark> at the end')
    expect(cpuMs()).toBeLessThan(3000)
  })

  test('for any text and query, the only markup is `<mark>`', () => {
    const piece = fc.oneof(fc.constantFrom('<', '>', '"', '&', 'a', 'ab ', "'", '<mark>', '…'), fc.string())
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (pieces, length) => {
        const text = pieces.join('')
        const snippet = snippetOf(text, createMatcher([prefix('a'), word('mark')]), length)
        const rest = snippet.replaceAll(/<mark>[^<>]*<\/mark>/g, '')
        expect(rest).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/)
      }),
    )
  })

  test('shows one of two spellings of a word', () => {
    const text = `JavaScript ${'filler '.repeat(100)} javascript`
    const spellings = [
      { ...word('java', 'script'), word: 'javascript' },
      { ...word('javascript'), word: 'javascript' },
    ]
    expect(snippetOf(text, createMatcher(spellings))).not.toContain(' … ')
  })

  test('shows a line of code from its beginning, with its line breaks', () => {
    const code = Array.from({ length: 40 }, (_, at) => `  const value${at} = compute(input, ${at})`)
    code[20] = '  const result = await retryWithBackoff(fetchTotals, { attempts: 5 })'
    const snippet = snippetOf(code.join('\n'), createMatcher([word('backoff')]))
    const lines = snippet
      .replace(/^…/, '')
      .replaceAll(/<\/?mark>/g, '')
      .split('\n')
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.slice(0, -1).filter((line) => !code.includes(line))).toEqual([])
  })

  test('begins at a line start if the former line is too long', () => {
    const text = `${'x = 1; '.repeat(100)}\n\treturn needle(${'argument, '.repeat(30)})`
    expect(snippetOf(text, createMatcher([word('needle')]))).toMatch(/^…\treturn <mark>needle<\/mark>/)
  })

  test.each([
    [`alpha alpha ${'word '.repeat(44)}alpha beta ${'word '.repeat(20)}`, ['alpha', 'beta']],
    [`alphaBeta alpha ${'word '.repeat(43)}beta alpha ${'word '.repeat(20)}`, ['alphabeta', 'alpha', 'beta']],
  ])('the rest of a cut word is not marked: %j', (text, wholes) => {
    const snippet = snippetOf(text, createMatcher([word('alpha'), word('beta')]))
    const marks = [...snippet.matchAll(/<mark>(.*?)<\/mark>/gs)].map(([, mark]) => mark?.toLowerCase())
    expect(new Set(marks)).toEqual(new Set(wholes))
  })

  test('marks the beginning of a word that is longer than the snippet', () => {
    const text = `so ${'long'.repeat(12)} it is`
    const snippet = snippetOf(text, createMatcher([word('long'.repeat(12))]), 30)
    expect(snippet).toMatch(/<mark>(?:long){4}/)
  })

  test('marks a word only in the columns in which it counts', () => {
    const matcher = createMatcher([{ ...word('needle'), columns: ['code'] }, word('thread')])
    const shown = ['code', 'text'].map((column) => makeSnippet('needle thread', matcher.find('needle thread', column)))
    expect(shown).toEqual(['<mark>needle</mark> <mark>thread</mark>', 'needle <mark>thread</mark>'])
  })
})

describe('for any text and query', () => {
  const queries = [word('alpha'), word('beta'), prefix('gam'), word('数据')]
  const piece = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('alpha', 'Beta', 'gamma', 'game', 'α', '我的数据很', 'alphaBeta') },
    {
      weight: 8,
      arbitrary: fc.constantFrom('filler', 'const x = <b>&amp;', '\n', '  ', "it's", '👩‍👩‍👧🇩🇪🇫🇷', 'e\u0301\u0302'),
    },
    { weight: 1, arbitrary: fc.nat({ max: 400 }).map((length) => 'word '.repeat(length / 5)) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('…', '')) },
  )
  const apart = fc.tuple(piece, fc.constantFrom('alpha', 'beta', 'game', '数据'), fc.integer({ min: 20, max: 100 }))
  const texts = fc.oneof(
    fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(' ')),
    fc
      .array(apart, { maxLength: 6 })
      .map((all) => all.map(([some, found, count]) => `${some} ${found} ${'word '.repeat(count)}`).join('')),
  )
  const lengths = fc.oneof(fc.constant(240), fc.integer({ min: 20, max: 300 }))
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  const plain = (html: string): string =>
    html.replaceAll(/<\/?mark>/g, '').replaceAll(/&(#39|\w+);/g, (_, name: string) => entities[name] ?? '?')
  // Replaces characters like the snippet does.
  // oxlint-disable-next-line no-control-regex
  const shownAs = (text: string): string => text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ')
  const fragmentsOf = (snippet: string): readonly string[] => snippet.replaceAll(/^…|…$/g, '').split(' … ')

  test('the passages are in the text, in order, without overlap and within the length limit', () => {
    let inPieces = 0
    fc.assert(
      fc.property(texts, lengths, (text, length) => {
        const snippet = snippetOf(text, createMatcher(queries), length)
        const fragments = fragmentsOf(snippet).map(plain)
        if (fragments.length > 1) inPieces += 1
        let from = 0
        for (const fragment of fragments) {
          const at = shownAs(text).indexOf(fragment, from)
          expect(at).toBeGreaterThanOrEqual(from)
          from = at + fragment.length
        }
        expect(plain(snippet).length).toBeLessThanOrEqual(length)
      }),
      { numRuns: 2000 },
    )
    expect(inPieces).toBeGreaterThan(200)
  })

  test('each of four words in a text is shown, and every mark is one of them', () => {
    const isWanted = (term: string): boolean => /^(?:alpha|beta|gam.*|数|数据|据)$/.test(term)
    fc.assert(
      fc.property(texts, (text) => {
        const matcher = createMatcher(queries)
        const marks = [...snippetOf(text, matcher).matchAll(/<mark>(.*?)<\/mark>/gs)].map(([, mark = '']) => mark)
        const wordsIn = (some: string): readonly number[] =>
          [...new Set(matcher.find(some).map((match) => match.word))].toSorted((one, other) => one - other)
        expect(wordsIn(marks.join(' '))).toEqual(wordsIn(text))
        for (const mark of marks) expect(tokenize(mark).filter(({ term }) => !isWanted(term))).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  test('no character is split', () => {
    const sign = fc.constantFrom('👩‍👩‍👧', 'e\u0301', '👍🏽', '𠀀', 'alpha ', ' ', '각', 'กำ')
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    const clustersOf = (text: string): readonly string[] =>
      Array.from(segmenter.segment(text), ({ segment }) => segment)
    fc.assert(
      fc.property(fc.array(sign), lengths, (signs, length) => {
        const text = signs.join('').repeat(12)
        const known = new Set(clustersOf(text))
        const fragments = fragmentsOf(snippetOf(text, createMatcher(queries), length))
        const shown = fragments.flatMap((each) => clustersOf(plain(each)))
        expect(shown.filter((cluster) => !known.has(cluster))).toEqual([])
      }),
    )
  })
})
