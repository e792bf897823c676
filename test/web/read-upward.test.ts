import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { holds } from './browser.ts'
import { rests, topOf, useLargeChats } from './large-chats.ts'

const place = useLargeChats()

const IS_LOADING = `Boolean(document.querySelector('.more:disabled'))`

/** Once nothing moves any more: a busy machine may take some frames between two steps of a smooth scroll. */
const lookAtTop = (page: Page): Promise<{ readonly id: string; readonly top: number }> =>
  page.evaluate(`(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    for (let before = NaN; before !== scrollY; ) {
      before = scrollY
      const until = performance.now() + 120
      while (performance.now() < until) await frame()
    }
    const shown = [...document.querySelectorAll('.thread [data-message]')].find(
      (row) => row.getBoundingClientRect().bottom > 150,
    )
    return { id: shown?.dataset.message ?? '', top: shown?.getBoundingClientRect().top ?? 0 }
  })()`)

/** Whether the page scrolled from here within a second. */
async function goesOn(page: Page, from: number): Promise<boolean> {
  for (let waits = 0; waits < 20; waits += 1) {
    if (await page.evaluate<boolean>(`scrollY !== ${from}`)) return true
    await page.waitForTimeout(50)
  }
  return false
}

test.each([
  ['the wheel', 700, (page: Page) => page.mouse.wheel(0, -1500)],
  // A press is a short way, and its scroll is slow.
  ['keys', 350, (page: Page) => page.keyboard.press('PageUp')],
  ['the scroll bar', 700, (page: Page) => page.evaluate('scrollBy({ top: -2500, behavior: "instant" })')],
] as const)('reading upward by %s, what is read stays where it is when earlier messages come', async (_, start, up) => {
  const page = await place.tab()
  await page.goto(`/chats/varied#varied-${start}`)
  await page.locator(`[data-message="varied-${start}"]`).waitFor()
  await rests(page)
  await page.mouse.move(500, 400)
  let loads = 0
  await page.route(/\/messages\?/, async (route) => {
    loads += 1
    await sleep(400)
    await route.continue().catch(() => null)
  })
  const wrong: string[] = []
  for (let steps = 0; steps < 400; steps += 1) {
    const from = await page.evaluate<number>('scrollY')
    await up(page)
    // A wheel only asks for a scroll: on a busy machine it begins after the next frames, and then looked like a jump.
    // A key's scroll ends where the list grows under it: who reads presses again.
    if (from > 0) {
      while (!(await goesOn(page, from))) await up(page)
    }
    const before = await lookAtTop(page)
    if (await page.evaluate<boolean>(IS_LOADING)) {
      await holds(page, `!${IS_LOADING}`)
      await page.waitForTimeout(150)
      const moved = (await topOf(page, before.id)) - before.top
      if (Math.abs(moved) > 2) wrong.push(`${before.id} moved by ${moved} pixels`)
    }
    if (before.id === 'varied-0') break
  }
  expect(wrong).toEqual([])
  expect(loads).toBeGreaterThanOrEqual(start === 700 ? 3 : 2)
  expect((await lookAtTop(page)).id).toBe('varied-0')
})
