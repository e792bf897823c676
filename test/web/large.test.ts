import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillStore, wordOf } from '../helpers/fill-store.ts'
import { visit } from './browser.ts'
import { PageOfChats } from './page-of-chats.ts'

const MESSAGES = 5000

let place: PageOfChats

beforeAll(async () => {
  place = await PageOfChats.open((home) =>
    fillStore(home.global(), { chats: 1, messagesPerChat: MESSAGES, textLength: 400 }),
  )
})
afterAll(() => place?.remove())

test('a chat of 5,000 messages opens at its first, at its last, and in the middle', async () => {
  const { page, context, faults } = await visit(place.browser, place.daemon.url)
  const opened = async (path: string, message: string): Promise<number> => {
    const startMs = performance.now()
    await page.goto(path)
    await page.locator(`[data-message="${message}"]`).waitFor()
    return Math.round(performance.now() - startMs)
  }
  const times = [
    await opened('/chats/chat-0', 'm0-0'),
    await opened('/chats/chat-0#m0-2500', 'm0-2500'),
    await opened(`/chats/chat-0?q=${wordOf(0, 4999)}`, 'm0-4999'),
  ]
  console.log(`a chat of ${MESSAGES} messages opens in ${times.join(', ')} ms`)
  expect(await page.locator('[data-message]').count()).toBeLessThanOrEqual(400)
  await context.close()
  expect(faults).toEqual([])
})

test('later messages are loaded as one scrolls, in their order and once each', async () => {
  const { page, context } = await visit(place.browser, place.daemon.url)
  await page.goto('/chats/chat-0')
  await page.locator('[data-message="m0-0"]').waitFor()
  for (const last of [199, 399]) {
    await page.locator(`[data-message="m0-${last}"]`).scrollIntoViewIfNeeded()
    await page.locator(`[data-message="m0-${last + 1}"]`).waitFor()
  }
  const ids = await page
    .locator('[data-message]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-message')))
  expect(ids).toEqual(ids.map((_, index) => `m0-${index}`))
  await context.close()
})

test('results follow the keys', async () => {
  const { page, context, faults } = await visit(place.browser, place.daemon.url)
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  const field = page.getByRole('combobox', { name: 'Search all chats' })
  const times: number[] = []
  for (const index of [7, 77, 777, 1777, 2777, 3777, 4777]) {
    const word = wordOf(0, index)
    await field.fill('')
    await page.getByRole('heading', { name: 'Newest chats' }).waitFor()
    await page.waitForTimeout(300)
    const startMs = performance.now()
    await field.fill(word)
    await page.locator('.found .hit mark', { hasText: word }).first().waitFor()
    times.push(Math.round(performance.now() - startMs))
  }
  console.log(`from a key to results: ${times.toSorted((left, right) => left - right).join(', ')} ms`)
  await context.close()
  expect(faults).toEqual([])
})
