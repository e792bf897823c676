import { afterAll, beforeAll, expect, test } from 'vitest'
import { untilReady, Workplace } from '../../../helpers/spawn-cursordex.ts'
import { makeCorpus } from '../../../search/corpus/make-corpus.ts'
import { writeCorpus } from '../../../search/corpus/write-corpus.ts'
import { searchOverHttp } from './search-over-http.ts'

const SEARCHES = 1000

const place = new Workplace()
let url: string
let stderr: () => string
beforeAll(async () => {
  writeCorpus(place.cursor, makeCorpus())
  const { daemon, ...served } = await place.serve()
  url = served.url
  stderr = () => daemon.stderr
  await untilReady(url, 60_000)
})
afterAll(() => place.remove())

test('a thousand hostile strings over HTTP cause no fault, no syntax error and no late answer', async () => {
  const { faults, slowest, ...figures } = await searchOverHttp(url, 'hostile', SEARCHES)
  console.log(`hostile strings over HTTP: ${JSON.stringify(figures)}`)
  expect(faults.slice(0, 10)).toEqual([])
  expect(figures).toMatchObject({ searches: SEARCHES, syntaxErrors: 0, overDeadline: 0 })
  expect(figures.withHits).toBeGreaterThan(SEARCHES / 20)
  expect(figures.tooLong).toBeLessThan(SEARCHES / 500)
  expect(slowest).toBeTypeOf('string')
  expect(stderr()).not.toMatch(/"level":(?:50|60)/)
})
