import { expect, test } from 'vitest'
import { examineHomes } from './examine.ts'
import { takeSamples } from './samples.ts'
import { ROWS_A_HOME } from './write-hostile.ts'

const ROWS = 1_000

test('a thousand hostile rows become messages, nothing or issues, and do not affect other rows', async () => {
  const samples = await takeSamples()
  const examined = await examineHomes('hostile', ROWS / ROWS_A_HOME, samples)
  const { rows, messages, issues, answers, faults } = examined
  console.log(
    `hostile values: ${rows} rows, ${messages} messages, ${issues} issues, ${answers} answers, ${faults.length} faults`,
  )
  expect(faults).toEqual([])
  expect(rows).toBe(ROWS)
  expect(messages).toBeGreaterThan(ROWS / 2)
  expect(issues).toBeGreaterThan(ROWS / 50)
})
