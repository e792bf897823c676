import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { startSchedule, type Schedule } from '../../src/daemon/schedule.ts'

describe('what is done by the clock:', () => {
  const HOUR_MS = 3_600_000
  const MINUTE_MS = 60_000

  let done: string[]
  let schedule: Schedule
  let archive: () => void
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 5, 9, 57, 30) })
    done = []
    archive = () => done.push('archive')
    schedule = startSchedule({
      archive: () => archive(),
      showProgress: null,
      onFault: (error) => done.push(String(error)),
    })
  })
  afterEach(() => {
    schedule.stop()
    vi.useRealTimers()
  })

  /** The tasks that ran while time passed. */
  function pass(ms: number): string[] {
    done = []
    vi.advanceTimersByTime(ms)
    return done
  }

  test('jobs are checked every minute', () => {
    expect(pass(30_000)).toEqual(['archive'])
    expect(pass(5 * MINUTE_MS)).toEqual(['archive', 'archive', 'archive', 'archive', 'archive'])
    expect(pass(HOUR_MS)).toHaveLength(60)
  })

  test('after the clock was set back by a day, no task ran for a day', () => {
    vi.setSystemTime(Date.now() - 24 * HOUR_MS)
    expect(pass(HOUR_MS).length).toBeGreaterThanOrEqual(60)
  })

  test('after the clock was set ahead by 25 years, the daemon processed each minute of them', () => {
    vi.setSystemTime(Date.now() + 25 * 365 * 24 * HOUR_MS)
    expect(pass(MINUTE_MS)).toEqual(['archive'])
    expect(pass(HOUR_MS)).toHaveLength(60)
  })

  test('if nobody sees the progress, the daemon wakes only once a minute', () => {
    expect(vi.getTimerCount()).toBe(1)
  })

  test('a task that fails is reported, and runs again', () => {
    archive = () => {
      throw new Error('a fault')
    }
    expect(pass(3 * MINUTE_MS)).toEqual(['Error: a fault', 'Error: a fault', 'Error: a fault'])
  })
})
