import { expect, test } from 'vitest'
import { IdleTimer } from '../../src/daemon/estimation/idle-timer.ts'

/** One call each second from `sinceS` on: `.` is at rest, `x` is busy. @returns the idle seconds after each call */
function noteEachSecond(timer: IdleTimer, states: string, sinceS = 0): number[] {
  return states.split('').map((state, index) => {
    const nowMs = (sinceS + index) * 1000
    timer.note(state === '.', nowMs)
    return timer.idleMs(nowMs) / 1000
  })
}

test('short work does not end idle time, and longer work does', () => {
  expect(noteEachSecond(new IdleTimer(2000), '...x..xx.xxx..')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 1])
})

test('idle time starts with the first call at rest', () => {
  expect(noteEachSecond(new IdleTimer(2000), 'x..')).toEqual([0, 0, 1])
})

test('after the clock was set back, idle time starts again, and long work does not count as short until the old time', () => {
  const timer = new IdleTimer(2000)
  noteEachSecond(timer, '...', 1000)
  expect(noteEachSecond(timer, '..')).toEqual([0, 1])
  noteEachSecond(timer, 'x', 1000)
  expect(noteEachSecond(timer, 'xxx', 10).at(-1)).toBe(0)
})
