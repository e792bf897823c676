import { expect, test } from 'vitest'
import { examineHomes } from '../system/hostile/values/examine.ts'
import { takeSamples } from '../system/hostile/values/samples.ts'
import { ROWS_A_HOME } from '../system/hostile/values/write-hostile.ts'

const ROWS = 1_000_000
const ROUND = 50_000

test('a million hostile rows become messages, nothing or issues, and cost no neighbour', async () => {
  const samples = await takeSamples()
  let rows = 0
  for (let round = 0; rows < ROWS; round += 1) {
    const examined = await examineHomes(`soak ${round}`, ROUND / ROWS_A_HOME, samples, round === 0)
    rows += examined.rows
    console.log(`hostile values: ${rows} of ${ROWS} rows, ${examined.faults.length} faults`)
    expect(examined.faults).toEqual([])
  }
  expect(rows).toBe(ROWS)
}, 10_800_000)
