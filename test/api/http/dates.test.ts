import { describe, expect, it } from 'vitest'
import { readBounds, readClock } from '../../../src/api/http/dates.ts'

const berlin = { timeZone: 'Europe/Berlin', now: () => Date.UTC(2026, 6, 2) }

describe('the bounds of a request', () => {
  it('are read in its zone, or else in the default zone', () => {
    const query = { from: '2026-07-01', to: null }
    expect(readBounds(query, readClock(null, berlin))).toEqual({ fromMs: Date.UTC(2026, 5, 30, 22), toMs: null })
    expect(readBounds(query, readClock('UTC', berlin)).fromMs).toBe(Date.UTC(2026, 6, 1))
    expect(readBounds({ from: null, to: 'today' }, readClock('UTC', berlin)).toMs).toBe(Date.UTC(2026, 6, 2))
  })

  it('are both named if both are wrong', () => {
    expect(() => readBounds({ from: 'x', to: 'y' }, readClock(null, berlin))).toThrow(
      expect.objectContaining({
        errors: [expect.objectContaining({ name: 'from' }), expect.objectContaining({ name: 'to' })],
      }),
    )
  })

  it('need an existing zone', () => {
    expect(() => readClock('Mars/Base', berlin)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ name: 'tz' })] }),
    )
  })
})
