import { afterAll, beforeAll, expect, test } from 'vitest'
import { lossyHome, type LossyHome } from '../helpers/guard/lossy-home.ts'
import { damagePages, heal, Original, readUntilDamage } from '../helpers/guard/page-damage.ts'

const ROUNDS = 24

let lossy: LossyHome
let original: Original

beforeAll(() => {
  lossy = lossyHome(20, 10)
  original = new Original(lossy)
})

afterAll(() => {
  original.remove()
  lossy.remove()
})

test('pages overwritten at random cost no message whose pages, and the pages above them, are sound', () => {
  let [wrong, setAside, least] = [0, 0, Infinity]
  for (let seed = 1; seed <= ROUNDS; seed += 1) {
    const healed = heal(lossy, original, damagePages(original, seed))
    expect(healed.faults, `seed ${seed}`).toEqual([])
    expect(healed.wrong, `seed ${seed}`).toEqual([])
    wrong += healed.wrong.length
    setAside += healed.isSetAside ? 1 : 0
    least = Math.min(least, healed.survivors)
  }
  console.log(
    `page damage: ${ROUNDS} mirrors of ${original.pages} pages, ${setAside} set aside, ${wrong} messages wrong`,
  )
  expect(setAside).toBeGreaterThan(ROUNDS / 4)
})

test('this test would notice a salvage that stops at the first error', () => {
  const stopped = Array.from({ length: ROUNDS }, (_, at) => damagePages(original, at + 1)).filter(
    ({ damaged, bytes }) => readUntilDamage(bytes) < original.survivors(damaged).length,
  )
  expect(stopped.length).toBeGreaterThan(ROUNDS / 10)
})
