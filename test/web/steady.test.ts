import { expect, test } from 'vitest'
import { startDemo, usePlace } from './place.ts'

// What a person feels and does not name: rows that jump while one types, a tab that grows all day.

const demo = usePlace(startDemo)

test('what is on the screen does not move while one types', async () => {
  const page = await demo.tab()
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  // Also shifts soon after a key, which browsers leave out of their own sum.
  await page.evaluate(`window.shifted = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifted += entry.value
    }).observe({ type: 'layout-shift', buffered: false })`)
  await page.getByRole('combobox', { name: 'Search all chats' }).pressSequentially('getUserName null', { delay: 120 })
  await page.waitForTimeout(600)
  const shifted = await page.evaluate<number>('window.shifted')
  console.log(`layout shift while typing: ${shifted.toFixed(4)}`)
  expect(shifted).toBeLessThanOrEqual(0.02)
})

const STOPS = [
  ['.row-link', '.thread [data-message]'],
  ['.rail a[href="/files"]', '.table-box'],
  ['.rail a[href="/stats"]', '.heatmap'],
  ['.rail a[href="/tokens"]', '.bars'],
  ['.rail a[href="/losses"]', '#archives'],
  ['.rail a[href="/projects"]', '.table-box'],
  ['.rail a[href="/settings"]', '.table-box'],
  ['.rail a[href="/"]', '.row-link'],
] as const

test('200 navigations leave no memory', async () => {
  const page = await demo.tab({ width: 1440 })
  await page.goto('/')
  await page.locator('.row-link').first().waitFor()
  const protocol = await page.context().newCDPSession(page)
  /** Bytes of the heap after as many navigations, without what is collected. */
  const usedAfter = async (navigations: number): Promise<number> => {
    for (let count = 0; count < navigations; count += 1) {
      const [link, ready] = STOPS[count % STOPS.length] ?? STOPS[0]
      await page.locator(link).first().click()
      await page.locator(ready).first().waitFor()
    }
    await protocol.send('HeapProfiler.collectGarbage')
    return (await protocol.send('Runtime.getHeapUsage')).usedSize
  }
  // What is kept of answers, so that Back is instant, has its limit then.
  const early = await usedAfter(12 * STOPS.length)
  const late = await usedAfter(200)
  console.log(`heap after ${12 * STOPS.length} navigations: ${early}, after 200 more: ${late}`)
  expect(late / early).toBeLessThanOrEqual(1.3)
})
