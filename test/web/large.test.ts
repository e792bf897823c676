import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { wordOf } from '../helpers/fill-store.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { holds } from './browser.ts'
import { rests, topOf, useLargeChats, writeMessages } from './large-chats.ts'

const place = useLargeChats()

test('a chat of 5,000 messages opens at its first, at its last, and in the middle', async () => {
  const page = await place.tab()
  for (const [path, message] of [
    ['/chats/chat-0', 'm0-0'],
    ['/chats/chat-0#m0-2500', 'm0-2500'],
    [`/chats/chat-0?q=${wordOf(0, 4999)}`, 'm0-4999'],
  ] as const) {
    const beganAt = performance.now()
    await page.goto(path)
    await page.locator(`[data-message="${message}"]`).waitFor()
    console.log(`${path} opened in ${Math.round(performance.now() - beganAt)} ms`)
  }
  expect(await page.locator('[data-message]').count()).toBeLessThanOrEqual(80)
})

test('later messages are loaded as one scrolls, in their order and once each', async () => {
  const page = await place.tab()
  await page.goto('/chats/chat-0')
  await page.locator('[data-message="m0-0"]').waitFor()
  const seen = new Set<string>()
  await page.mouse.move(500, 400)
  await waitUntil('message 450', async () => {
    await page.mouse.wheel(0, 500)
    await page.waitForTimeout(20)
    const ids = await page
      .locator('.thread [data-message]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('data-message') ?? ''))
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) seen.add(id)
    return seen.has('m0-450')
  })
  const numbers = [...seen].map((id) => Number(id.replace('m0-', '')))
  expect(numbers).toEqual(numbers.map((_, index) => index))
})

/** @returns whether this message comes to this place of the window, at most 0.7 seconds later. A busy machine scrolls some frames late. */
async function comesTo(page: Page, message: string, wanted: number): Promise<boolean> {
  for (let looks = 0; looks < 12; looks += 1) {
    await page.waitForTimeout(60)
    if (Math.abs((await topOf(page, message)) - wanted) <= 2) return true
  }
  return false
}

const messageShown = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...document.querySelectorAll('.thread [data-message]')].find((row) => row.getBoundingClientRect().bottom > 150).dataset.message`,
  )

const openSteps = (page: Page): Promise<(string | null)[]> =>
  page.locator('details.call[open]').evaluateAll((all) => all.map((one) => one.getAttribute('data-message')))

describe.each([
  ['chat-0', 'm0'],
  ['varied', 'varied'],
])('reading in the middle of %s, of 5,000 messages', (chat, name) => {
  test('one press of Home goes to the top of what is loaded, and stays there when earlier messages come', async () => {
    const page = await place.tab()
    await page.goto(`/chats/${chat}#${name}-2500`)
    await page.locator(`[data-message="${name}-2500"]`).waitFor()
    await rests(page)
    let release: (() => void) | undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/messages\?/, async (route) => {
      await released
      await route.continue()
    })
    await page.keyboard.press('Home')
    await holds(page, 'scrollY === 0')
    await page.getByText('Loading…').first().waitFor()
    // What the reader opened stays open.
    const calls = page.locator('details.call > summary')
    if ((await calls.count()) > 0) await calls.nth(3).click()
    const opened = await openSteps(page)
    const first = await messageShown(page)
    const top = await topOf(page, first)
    release?.()
    await page.getByText('2,200 earlier messages').waitFor()
    await rests(page)
    expect(Math.abs((await topOf(page, first)) - top)).toBeLessThan(3)
    expect(await openSteps(page)).toEqual(opened)
  })

  test.each([
    ['up', -1],
    ['down', 1],
  ] as const)('ticks of the wheel move %s by their own length, past what is loaded', async (_, sign) => {
    const page = await place.tab()
    await page.goto(`/chats/${chat}#${name}-2500`)
    await page.locator(`[data-message="${name}-2500"]`).waitFor()
    await rests(page)
    await page.mouse.move(500, 400)
    let [dropped, number] = [0, 2500]
    for (let ticks = 0; ticks < 200 && Math.abs(number - 2500) < 160; ticks += 1) {
      const first = await messageShown(page)
      const top = await topOf(page, first)
      await page.mouse.wheel(0, sign * 300)
      if (!(await comesTo(page, first, top - sign * 300))) dropped += 1
      number = Number((await messageShown(page)).replace(`${name}-`, ''))
    }
    expect(Math.abs(number - 2500)).toBeGreaterThanOrEqual(160)
    // While what is above arrives, the browser may drop a part of a tick.
    expect(dropped).toBeLessThanOrEqual(2)
  })
})

test('a chat scrolled to its end has few nodes, and nothing on the screen shifted by itself', async () => {
  const page = await place.tab()
  await page.goto('/chats/varied')
  await page.locator('[data-message="varied-0"]').waitFor()
  await rests(page)
  await page.evaluate(`window.shifted = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value
    }).observe({ type: 'layout-shift', buffered: false })`)
  await page.mouse.move(500, 400)
  for (let ticks = 0; ticks < 40; ticks += 1) {
    await page.mouse.wheel(0, 600)
    await page.waitForTimeout(40)
  }
  const shifted = await page.evaluate<number>('window.shifted')
  console.log(`layout shift while scrolling: ${shifted.toFixed(4)}`)
  expect(shifted).toBeLessThanOrEqual(0.02)
  await page.goto('/chats/varied#varied-4999')
  await page.locator('[data-message="varied-4999"]').waitFor()
  await page.keyboard.press('End')
  await rests(page)
  expect(await page.evaluate<number>(`document.querySelectorAll('*').length`)).toBeLessThanOrEqual(15_000)
})

test('a message that comes while one reads does not move what one reads', async () => {
  const page = await place.tab()
  const store = place.server().home.global()
  await page.goto('/chats/hits#hits-470')
  await page.locator('[data-message="hits-470"]').waitFor()
  await rests(page)
  const top = await topOf(page, 'hits-470')
  writeMessages(store, 'hits', 501, (index) => ({ type: 2, text: index < 500 ? `pear ${index}` : 'It is new' }))
  await page.getByRole('button', { name: '1 new message' }).waitFor()
  await rests(page)
  expect(await topOf(page, 'hits-470')).toBe(top)
  await page.getByRole('button', { name: '1 new message' }).click()
  await page.locator('[data-message="hits-500"]').waitFor()
  await holds(page, 'scrollY + innerHeight > document.documentElement.scrollHeight - 3')
})

test('a chat that grows is followed while one is at its end', async () => {
  const page = await place.tab()
  const store = place.server().home.global()
  writeMessages(store, 'grows', 60, (index) => ({ type: 2, text: `melon ${index}` }))
  await waitUntil('the chat', async () => (await fetch(`${place.server().url}/api/chats/grows`)).ok)
  await page.goto('/chats/grows')
  await page.locator('[data-message="grows-0"]').waitFor()
  await page.keyboard.press('End')
  await page.locator('[data-message="grows-59"]').waitFor()
  await rests(page)
  for (const count of [63, 70]) {
    writeMessages(store, 'grows', count, (index) => ({ type: 2, text: `melon ${index}` }))
    await page.locator(`[data-message="grows-${count - 1}"]`).waitFor()
    await holds(page, 'scrollY + innerHeight > document.documentElement.scrollHeight - 3')
    await rests(page)
  }
  expect(await page.getByRole('button', { name: /new message/ }).count()).toBe(0)
})

test.each([
  ['hits', 'pear', '500', 'Hit 500 of 500'],
  // The first thousand are walked.
  ['chat-0', 'plum', '5,000', 'Hit 1,000 of 5,000'],
])('the hits in %s are counted whole', async (chat, word, total, last) => {
  const page = await place.tab()
  await page.goto(`/chats/${chat}?q=${word}`)
  await page.getByText(/^Hit 1 of/).waitFor()
  expect(await page.getByText(/^Hit 1 of/).innerText()).toBe(`Hit 1 of ${total}`)
  await page.keyboard.press('p')
  await page.getByText(last).waitFor()
})

test('an edit of 3,000 lines to 3,000 others shows what was added, and all of it on a press', async () => {
  const page = await place.tab()
  await page.goto('/chats/edit')
  expect(await page.locator('[data-message="edit-0"] > summary').innerText()).toMatch(/Edited[^]*\+3,000[^]*−3,000/)
  await page.locator('[data-message="edit-0"] > summary').click()
  await page.locator('.diff .added').first().waitFor()
  expect(await page.locator('.diff .removed').first().innerText()).toBe('-old 0\n')
  expect(await page.locator('.diff .added').first().innerText()).toBe('+new 0\n')
  expect(await page.locator('.diff').innerText()).toMatch(/-old 99\s+⋯\s+\+new 0\s/)
  await page.getByRole('button', { name: 'Show all 6,000 lines' }).click()
  await page.locator('.diff .added').nth(2999).waitFor()
  expect(await page.locator('.diff .added').last().innerText()).toBe('+new 2999\n')
  expect(await page.locator('.diff .removed').count()).toBe(3000)
})

test('a filter whose hits are counted to 1,000 only says "at least"', async () => {
  const page = await place.tab()
  await page.goto('/?q=plum')
  for (const [menu, counts] of [
    [/^Found in/, ['at least 1,000']],
    [/^Said by/, ['2,500', '2,500']],
  ] as const) {
    await page.getByRole('button', { name: menu }).click()
    await page.locator('.choice .soft').first().waitFor()
    expect(await page.locator('.choice .soft').allInnerTexts()).toEqual(counts)
    await page.keyboard.press('Escape')
  }
})
