import { expect, test } from 'vitest'
import { askSearches, writeTalk } from '../system/hostile/searches/ask-searches.ts'
import { World } from '../helpers/world.ts'
import { untilReady, Workplace } from '../helpers/spawn-cursordex.ts'
import { makeCorpus } from '../search/corpus/make-corpus.ts'
import { writeCorpus } from '../search/corpus/write-corpus.ts'

const SEARCHES = 1_000_000
const ROUND = 50_000
const STRINGS = 100_000
const STRINGS_ROUND = 5000

test('a million hostile searches are answered, whatever they ask', async () => {
  const world = await World.open()
  try {
    writeTalk(world.home.global())
    await world.sync()
    for (let asked = 0; asked < SEARCHES; asked += ROUND) {
      const { faults } = await askSearches((path) => world.request(path), `soak ${asked}`, ROUND)
      console.log(`hostile searches: ${asked + ROUND} of ${SEARCHES}, ${faults.length} faults`)
      expect(faults).toEqual([])
    }
  } finally {
    await world.remove()
  }
}, 10_800_000)

test('a hundred thousand hostile strings over HTTP: no fault, no syntax error, none over the deadline', async () => {
  const place = new Workplace()
  try {
    writeCorpus(place.cursor, makeCorpus())
    const { daemon, url } = await place.serve()
    await untilReady(url, 120_000)
    for (let asked = 0; asked < STRINGS; asked += STRINGS_ROUND) {
      const { faults, ...figures } = await askSearches((path) => fetch(url + path), `soak ${asked}`, STRINGS_ROUND)
      console.log(`hostile strings over HTTP, from ${asked}: ${JSON.stringify({ ...figures, faults: faults.length })}`)
      expect(faults.slice(0, 10)).toEqual([])
      expect(figures).toMatchObject({ searches: STRINGS_ROUND, overDeadline: 0 })
    }
    expect(daemon.stderr).not.toMatch(/"level":(?:50|60)/)
  } finally {
    await place.remove()
  }
}, 7_200_000)
