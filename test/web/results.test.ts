import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillStore } from '../helpers/fill-store.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { holds, visit } from './browser.ts'
import { PageOfChats } from './page-of-chats.ts'

/** More than one request of the search can answer. */
const CHATS = 270

let place: PageOfChats

beforeAll(async () => {
  place = await PageOfChats.open((home) => fillStore(home.global(), { chats: CHATS, messagesPerChat: 2 }))
})
afterAll(() => place?.remove())

test('more results are shown until each chat is there once', async () => {
  const { page, context, faults } = await visit(place.browser, place.daemon.url)
  await page.goto('/?q=plum')
  const hits = page.locator('.found > .hits > .hit')
  const more = page.getByRole('button', { name: 'Show more' })
  await hits.first().waitFor()
  for (let shown = 20; shown < CHATS; shown += 40) {
    await holds(page, `document.querySelectorAll('.found > .hits > .hit').length === ${shown}`)
    await more.click()
  }
  await holds(page, `document.querySelectorAll('.found > .hits > .hit').length === ${CHATS}`)
  expect(await more.count()).toBe(0)
  const chats = await page
    .locator('[data-hit]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('href')?.split('?')[0]))
  expect(chats.length).toBe(CHATS)
  expect(new Set(chats).size).toBe(CHATS)
  // Another search begins with its first page again.
  await page.getByLabel('Order').selectOption('oldest')
  await more.waitFor()
  expect(await hits.count()).toBe(20)
  await context.close()
  expect(faults).toEqual([])
})

test('the first key is searched at once, keys that follow fast are searched together', async () => {
  const { page, context } = await visit(place.browser, place.daemon.url)
  const asked: (string | null)[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/api/search' && !searchParams.has('facets')) asked.push(searchParams.get('q'))
  })
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  await page.evaluate(`{
    const field = document.querySelector('.search-field input')
    for (const text of ['p', 'pl', 'plu', 'plum']) {
      field.value = text
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
  }`)
  await page.locator('.found .hit mark').first().waitFor()
  await waitUntil('the facets', () => page.locator('.facet').first().isVisible())
  expect(asked).toEqual(['p', 'plum*'])
  await context.close()
})

test('the header is there before the script', async () => {
  const context = await place.browser.newContext({ javaScriptEnabled: false, baseURL: place.daemon.url })
  const page = await context.newPage()
  await page.goto('/')
  expect(await page.locator('header.top').innerText()).toMatch(/cursordex/)
  expect(await page.locator('header.top input').isVisible()).toBe(true)
  await context.close()
})
