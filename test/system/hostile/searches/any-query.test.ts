import { afterEach, expect, test, vi } from 'vitest'
import type * as parser from '../../../../src/api/search/language/parse.ts'
import { askSearches } from './ask-searches.ts'

/** A fault of the query parser, for one test. */
const planted = vi.hoisted((): { parse: ((query: string) => void) | null } => ({ parse: null }))

vi.mock('../../../../src/api/search/language/parse.ts', async (importOriginal) => {
  const real = await importOriginal<typeof parser>()
  return {
    ...real,
    parseQuery: (query: string) => {
      planted.parse?.(query)
      return real.parseQuery(query)
    },
  }
})

afterEach(() => {
  planted.parse = null
})

const SEARCHES = 3_000

test('three thousand random searches are answered, whatever they ask', async () => {
  const { searches, withHits, faults } = await askSearches('hostile', SEARCHES)
  console.log(`hostile searches: ${searches} asked, ${withHits} with hits, ${faults.length} faults`)
  expect(faults).toEqual([])
  expect(withHits).toBeGreaterThan(SEARCHES / 50)
})

test('a parser that fails on some query is noticed', async () => {
  planted.parse = (query) => {
    if (query.includes('NEAR(')) throw new SyntaxError('planted')
  }
  expect((await askSearches('hostile', 500)).faults.join('\n')).toMatch(/500 to .*NEAR\([^]*planted/)
})
