import { expect, test } from 'vitest'
import { IdleTimer } from '../../src/daemon/estimation/idle-timer.ts'

/** A look each second from `sinceS` on: `.` at rest, `x` busy. @returns how long the calm lasted at each of them */
function lookEachSecond(calm: IdleTimer, looks: string, sinceS = 0): number[] {
  return looks.split('').map((look, index) => {
    const nowMs = (sinceS + index) * 1000
    calm.note(look === '.', nowMs)
    return calm.idleMs(nowMs) / 1000
  })
}

test('a moment of work does not end it, work for longer does', () => {
  expect(lookEachSecond(new IdleTimer(2000), '...x..xx.xxx..')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 1])
})

test('there is none before the first look at rest', () => {
  expect(lookEachSecond(new IdleTimer(2000), 'x..')).toEqual([0, 0, 1])
})

test('it begins anew where the clock was set back, and work is not taken for a moment until the old time', () => {
  const calm = new IdleTimer(2000)
  lookEachSecond(calm, '...', 1000)
  expect(lookEachSecond(calm, '..')).toEqual([0, 1])
  lookEachSecond(calm, 'x', 1000)
  expect(lookEachSecond(calm, 'xxx', 10).at(-1)).toBe(0)
})
