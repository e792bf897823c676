import { expect, test } from 'vitest'
import { damageWal, positionsFirst, reopen, WalMirror } from '../helpers/guard/wal-damage.ts'

const PLACES = 100

test('a WAL that is cut, zeroed or filled with garbage loses the last commits and no others', () => {
  const mirror = new WalMirror(12)
  const wrong: string[] = []
  for (let seed = 1; seed <= PLACES; seed += 1) {
    wrong.push(...reopen(mirror, damageWal(mirror.wal, seed)).map((fault) => `seed ${seed}: ${fault}`))
  }
  mirror.remove()
  console.log(`wal damage: ${PLACES} places in ${mirror.wal.length} bytes, ${wrong.length} wrong`)
  expect(wrong).toEqual([])
})

test('this test would notice a position that is written in another transaction than its rows', () => {
  const mirror = new WalMirror(12, positionsFirst)
  const seeds = Array.from({ length: 20 }, (_, at) => at + 1)
  const noticed = seeds.filter((seed) => reopen(mirror, damageWal(mirror.wal, seed)).length > 0)
  mirror.remove()
  expect(noticed.length).toBeGreaterThan(2)
})
