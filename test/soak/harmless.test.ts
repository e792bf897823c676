import { describe, expect, test } from 'vitest'
import { measureHarm } from '../system/harm/measure-harm.ts'

const QUITS = 500

describe('a Cursor that quits again and again beside the daemon', () => {
  test.each([
    ['wal', 0],
    // Such a store soon outgrows what is copied. Cursor's SQLite waits a second for a lock.
    ['delete', 1000],
  ] as const)(
    '%s: no commit fails, and hardly a backup is stale',
    { timeout: 7_200_000 },
    async (journalMode, timeoutMs) => {
      const { beside, alone, store, leftOpen, line } = await measureHarm({
        journalMode,
        timeoutMs,
        quits: QUITS,
        commits: 40,
      })
      console.log(line)
      expect(beside.errors).toEqual([])
      expect(store).toEqual({ integrity: 'ok', digest: beside.digest })
      expect(leftOpen).toEqual([])
      expect(beside.staleBackups).toBeLessThanOrEqual(QUITS * 0.005)
      // In rollback mode there is none.
      expect(beside.walBytesMax).toBeLessThanOrEqual(1.25 * Math.max(alone.walBytesMax, 1_000_000))
    },
  )
})
