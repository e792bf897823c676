import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chance } from '../../fuzz/chance.ts'
import { PurgePlace, secretOf, wordOf } from '../../helpers/purge-place.ts'
import { findBytes } from '../../helpers/purge-world.ts'

const KILLS = 10
let place: PurgePlace

beforeAll(async () => {
  place = new PurgePlace(KILLS + 5, 30)
  await place.run(['archive', 'run'])
})
afterAll(() => place.remove())

const findSecret = (round: number): string[] =>
  [secretOf(round), wordOf(round)].flatMap((word) => findBytes(place.dataDir, word))

interface Found {
  readonly total: number
}

async function searchFor(word: string): Promise<number> {
  const { stdout } = await place.run(['search', word, '--json'])
  return (JSON.parse(stdout) as Found).total
}

/** @returns true if it was killed before it ended */
async function killAfter(round: number, delayMs: number): Promise<boolean> {
  const argv = ['purge', '--match', '--yes', '--json']
  const program = place.place.start(argv, { input: `${secretOf(round)}\n` })
  await sleep(delayMs)
  const isKilled = !program.hasEnded
  program.signal('SIGKILL')
  await program.ended
  return isKilled
}

test('a purge that is killed at any time is finished by the next one, and nothing comes back', async () => {
  const chance = new Chance(4)
  const startedAt = performance.now()
  expect(await place.purgeSecret(KILLS)).toMatchObject({ exitCode: 0 })
  let tookMs = performance.now() - startedAt
  let [killed, removed] = [0, 0]
  for (let round = 0; round < KILLS; round += 1) {
    if (await killAfter(round, tookMs * (0.4 + 0.6 * (chance.below(1000) / 1000)))) killed += 1
    // The row is written again, so that the next pass reads it again.
    place.writeSecret(round, ` Again ${round}.`)
    const isThere = (await searchFor(`"${secretOf(round)}"`)) > 0
    if (!isThere) removed += 1
    const againAt = performance.now()
    const { exitCode, stdout, stderr } = await place.purgeSecret(round)
    // The load of the machine may have changed.
    tookMs = performance.now() - againAt
    expect([round, exitCode, stderr]).toEqual([round, 0, expect.any(String)])
    // If the text was removed before the second purge, that purge removes nothing.
    const { messages } = JSON.parse(stdout) as { messages: number }
    expect([round, messages]).toEqual([round, isThere ? 1 : 0])
    expect([round, findSecret(round)]).toEqual([round, []])
  }
  console.log(
    `purge: ${KILLS} rounds, ${killed} killed, in ${removed} of them it was noted by then; ${Math.round(tookMs)} ms each`,
  )
  expect(killed).toBeGreaterThan(KILLS / 2)
  expect(removed).toBeGreaterThan(0)
  expect(await place.run(['archive', 'verify'])).toMatchObject({ exitCode: 0 })
  expect(await place.run(['sync', '--full'])).toMatchObject({ exitCode: 0 })
  for (let round = 0; round <= KILLS; round += 1) expect([round, findSecret(round)]).toEqual([round, []])
  // Other chats are unchanged.
  expect(await searchFor('zephyrian')).toBe(4)
  expect(await searchFor('word3a7')).toBe(1)
}, 400_000)
