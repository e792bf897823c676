import { describe, expect, test } from 'vitest'
import { measureHarm } from '../harm/measure-harm.ts'

const QUITS = 500

describe('a Cursor that quits again and again beside the daemon', () => {
  test.each(['wal', 'delete'] as const)(
    '%s: no commit fails, and hardly a backup is stale',
    { timeout: 7_200_000 },
    async (mode) => {
      const { beside, alone, store, leftOpen, line } = await measureHarm({
        journalMode: mode,
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
