import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import { KilledArchives } from './killed-archives.ts'

const RUNS = 8
const RESTORES = 8

let killed: KilledArchives

beforeAll(async () => {
  killed = new KilledArchives(9)
  await killed.begin()
})
afterAll(() => killed.remove())

test('after a kill at any moment a run is complete or does not exist, and a repeated restore has the same result', async () => {
  const bad: string[] = []
  for (let round = 0; round < RUNS; round += 1) {
    bad.push(...(await killed.killRun()).map((line) => `run ${round}: ${line}`))
    if (round < RESTORES) bad.push(...(await killed.killRestore()).map((line) => `restore ${round}: ${line}`))
  }
  const { runs, restores } = killed
  console.log(
    `archives: ${RUNS} kills, ${runs.made} runs made, ${runs.unmade} not, ${runs.leftovers} files left over; ` +
      `${RESTORES} in a restore: ${restores.before} before it wrote, ${restores.within} within, ${restores.after} after`,
  )
  expect(bad).toEqual([])
  // A kill that always came too early or too late would prove nothing.
  expect(runs.unmade).toBeGreaterThan(0)
  expect(runs.leftovers).toBeGreaterThan(0)
  expect(restores.within).toBeGreaterThan(0)
  const last = killed.startRun(killed.nextName())
  const [code] = (await once(last, 'exit')) as [number]
  expect(code).toBe(0)
  const verdict = killed.folder.verify()
  expect(verdict).toMatchObject({ ok: true, leftovers: [] })
  // One run of the job, and the one that a person requested.
  expect(verdict.soundRuns.filter((name) => !name.endsWith('-manual'))).toHaveLength(1)
}, 300_000)

test('of two programs that work on one folder, one waits for the other', async () => {
  const [one, other] = ['one', 'other'].map((job) => killed.startRun(`${killed.nextName()}-${job}`))
  if (one === undefined || other === undefined) throw new Error('two were begun')
  await Promise.all([once(one, 'exit'), once(other, 'exit')])
  expect(killed.folder.verify()).toMatchObject({ ok: true, leftovers: [] })
})

test('a restore that counts a chat as done before its messages are written would be noticed', async () => {
  const build = new FaultyBuild({
    file: 'indexer/sources/archive/index.ts',
    replace: 'if (held !== null && !places.some(isMissing)',
    by: 'if (held !== null && places.length > 0',
  })
  const faulty = new KilledArchives(4, build.bin)
  try {
    await faulty.begin()
    const found: string[] = []
    for (let round = 0; round < 12 && found.length === 0; round += 1) found.push(...(await faulty.killRestore()))
    expect(found).not.toEqual([])
  } finally {
    faulty.remove()
    build.remove()
  }
})
