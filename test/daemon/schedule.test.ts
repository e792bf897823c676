import { expect, test, vi } from 'vitest'
import { startSchedule } from '../../src/daemon/schedule.ts'

const given = vi.hoisted((): unknown[] => [])
vi.mock('node-cron', () => ({
  schedule: (...[, , options]: unknown[]) => {
    given.push(options)
    return { destroy: () => undefined }
  },
}))

test('a machine that slept over a rhythm finds no foreign warning in the log', () => {
  const nothing = () => undefined
  startSchedule({ reconcile: nothing, checkTermsIfDue: nothing, archive: nothing, showProgress: nothing }).stop()
  expect(given).toHaveLength(3)
  for (const options of given) expect(options).toMatchObject({ suppressMissedWarning: true })
})
