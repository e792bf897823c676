import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { empty, HarmedIndex, harms, tables } from '../../helpers/guard/harmed-index.ts'
import { type Cursordex, untilReady } from '../../helpers/spawn-cursordex.ts'

const WORDS = 500

let harmed: HarmedIndex
beforeAll(async () => {
  harmed = new HarmedIndex()
  await harmed.fill()
})
afterAll(() => harmed.remove())

const cases: readonly [name: string, harm: () => void][] = [
  ...Object.entries(harms).map(([name, harm]): [string, () => void] => [name, () => harm(harmed.path, harmed.kept)]),
  ...tables.map((table): [string, () => void] => [`without the rows of ${table}`, () => empty(harmed.path, table)]),
]

test.each([...cases, ['newer than a mirror that was put back', () => harmed.putMirrorBack()] as const])(
  'an index that is %s when the daemon starts is made anew, and every word is found',
  async (_, harm) => {
    harm()
    const { daemon, url } = await harmed.place.serve()
    await untilReady(url)
    expect(await harmed.missing(url, WORDS)).toEqual([])
    expect(await daemon.stop()).toMatchObject({ exitCode: 0 })
  },
)

describe('while one daemon runs', () => {
  let running: { readonly daemon: Cursordex; readonly url: string }
  beforeAll(async () => {
    running = await harmed.place.serve()
    await untilReady(running.url)
  })

  test.each(cases)('an index that is %s is made anew without a restart, and every word is found', async (_, harm) => {
    harm()
    expect(await harmed.missing(running.url, WORDS)).toEqual([])
  })

  test('it stops as ever', async () => {
    expect(await running.daemon.stop()).toMatchObject({ exitCode: 0 })
  })
})
