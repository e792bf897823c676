import { describe, expect, it } from 'vitest'
import { readBounds, readClock } from '../../../src/api/http/dates.ts'

const berlin = { timeZone: 'Europe/Berlin', now: () => Date.UTC(2026, 6, 2) }

describe('the bounds of a request', () => {
  it('are read in the zone it names, else in the default', () => {
    const query = { from: '2026-07-01', to: null }
    expect(readBounds(query, readClock(null, berlin))).toEqual({ fromMs: Date.UTC(2026, 5, 30, 22), toMs: null })
    expect(readBounds(query, readClock('UTC', berlin)).fromMs).toBe(Date.UTC(2026, 6, 1))
    expect(readBounds({ from: null, to: 'today' }, readClock('UTC', berlin)).toMs).toBe(Date.UTC(2026, 6, 2))
  })

  it('name both ends if both are wrong', () => {
    expect(() => readBounds({ from: 'x', to: 'y' }, readClock(null, berlin))).toThrow(
      expect.objectContaining({
        errors: [expect.objectContaining({ name: 'from' }), expect.objectContaining({ name: 'to' })],
      }),
    )
  })

  it('need a zone that there is', () => {
    expect(() => readClock('Mars/Base', berlin)).toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ name: 'tz' })] }),
    )
  })
})
