import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { GitRepository } from '../helpers/git-repository.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { savedCsv } from './browser.ts'
import { startChats, usePlace } from './place.ts'

/** More than one request of the search can answer. */
const CHATS = 270
const LOST = 320
/** A title that a spreadsheet would run as a formula. */
const TITLE = '=HYPERLINK("http://example.org","a, b")'

const place = usePlace(async () => {
  const repository = new GitRepository()
  repository.commit({ atMs: Date.UTC(2026, 0, 5), subject: 'Begin with a readme', files: { 'a.md': 'a' } })
  const ids = Array.from({ length: LOST + 2 }, (_, index) => `m${index}`)
  const started = await startChats((home) => {
    const store = home.global()
    fillStore(store, { chats: CHATS, messagesPerChat: 1 })
    for (const [index, id] of ids.entries()) store.message('large', id, { type: (index % 2) + 1, text: `word ${id}` })
    store.put('bubbleId:large:torn', 'no json')
    const createdAt = Date.UTC(2026, 0, 4)
    store.chat('large', { name: TITLE, createdAt, fullConversationHeadersOnly: headers(ids) })
    store.chat('undated', { name: 'Undated', fullConversationHeadersOnly: headers(['u1', 'u2', 'u3']) })
    store.message('undated', 'u1', { type: 1, text: 'asked some day' })
    store.message('undated', 'u2', { type: 2, text: 'told', tokenCount: { inputTokens: 100, outputTokens: 20 } })
    store.message('undated', 'u3', { type: 1, text: 'asked again' })
    const chatIds = Array.from({ length: CHATS }, (_, index) => `chat-${index}`)
    home.workspace('0'.repeat(32), { folder: pathToFileURL(repository.root).href }, [...chatIds, 'large'])
  })
  const { daemon, home } = started
  const store = home.global()
  store.db.transaction(() => {
    for (const id of ids.slice(2)) store.delete(`bubbleId:large:${id}`)
  })()
  // The second comparison confirms that so many rows are gone.
  for (let pass = 0; pass < 2; pass += 1) await daemon.post('/api/sync', { full: true })
  home.close()
  const stop = async (): Promise<void> => {
    await started.stop()
    repository.remove()
  }
  return { ...started, stop }
})
let page: Page
beforeEach(async () => {
  page = await place.tab()
})

test('all losses can be shown, and the CSV file has all from the start', async () => {
  await page.goto('/losses')
  await page.getByRole('heading', { name: `${LOST} losses` }).waitFor()
  const lines = page.getByRole('region', { name: 'Losses' }).getByRole('rowheader')
  expect(await lines.count()).toBe(20)
  const saved = await savedCsv(page, 'Losses')
  expect(new Set(saved.map((row) => row['Message id'])).size).toBe(LOST)
  expect(new Set(saved.map(({ Chat }) => Chat))).toEqual(new Set([`'${TITLE}`]))
  await page.getByRole('button', { name: 'Show more, 20 of 320 shown' }).click()
  await page.getByRole('button', { name: 'Show more, 220 of 320 shown' }).click()
  await lines.nth(LOST - 1).waitFor()
  const addresses = await lines.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(new Set(addresses).size).toBe(LOST)
  expect(await page.getByRole('button', { name: /^Show more/ }).count()).toBe(0)
})

test('a project shows its commits, and leads to all of its chats', async () => {
  await page.goto('/projects')
  await page.locator('main').getByRole('rowheader').getByRole('link').first().click()
  await page.locator('.figures').waitFor()
  await page.getByText('Commits, and the chats').click()
  await page.getByText('Begin with a readme').waitFor()
  await page.getByRole('link', { name: 'Its chats' }).click()
  await page.getByText(`${CHATS + 1} chats`).waitFor()
})

test('the status said that everything is read although a row could not be read', async () => {
  await page.goto('/status')
  await page.getByText('What could be read is searchable; below is what could not.').waitFor()
  await page.getByText('1 · bad json').waitFor()
  expect(await page.locator('main').innerText()).not.toMatch(/Everything is read|every row was read/)
})

const figure = async (name: string): Promise<number> => {
  const value = page
    .locator('.figures div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator('dd')
  return Number((await value.innerText()).replaceAll(',', ''))
}

const inChart = async (line: string): Promise<number> => {
  const text = await page.locator('.legend > span', { hasText: line }).first().innerText()
  return Number(text.replaceAll(/\D/g, ''))
}

test('a chart adds up to the figures, or names the messages without a time that it lacks', async () => {
  const { counts } = await place.get<{ counts: { messages: number } }>('/api/status')
  await page.goto('/stats')
  await page.getByText('3 messages without a time: in the figures, not in the chart.').waitFor()
  expect([await figure('Messages'), (await inChart('Messages')) + 3]).toEqual([counts.messages, counts.messages])
  await page.goto('/stats?from=2020-01-01')
  await page.getByText('3 messages without a time: not counted in a range of time.').waitFor()
  expect([await figure('Messages'), await inChart('Messages')]).toEqual([counts.messages - 3, counts.messages - 3])
  await page.goto('/tokens')
  await page
    .getByText('3 messages without a time: in the figures, not in the chart. They have 120 recorded tokens')
    .waitFor()
  const recorded = (await figure('Recorded input')) + (await figure('Recorded output'))
  expect([recorded, await inChart('Recorded')]).toEqual([120, 0])
})

test('the status counts losses as their list does', async () => {
  await page.goto('/status')
  await page.locator('.figures').first().waitFor()
  expect(await figure('Losses')).toBe(LOST)
})

test('the list of a search is continued as one scrolls, until each chat was there once', async () => {
  await page.goto('/?q=plum')
  await page.locator('[data-hit]').first().waitFor()
  const seen = new Map<string, string>()
  await page.mouse.move(300, 500)
  await waitUntil('the last chat', async () => {
    const rows = await page
      .locator('[data-hit]')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('data-at'), one.getAttribute('href')?.split('?')[0]]))
    for (const [at, address] of rows) seen.set(String(at), String(address))
    await page.mouse.wheel(0, 700)
    return seen.has(String(CHATS - 1))
  })
  expect(seen.size).toBe(CHATS)
  expect(new Set(seen.values()).size).toBe(CHATS)
  // Another order begins at its top again.
  await page.getByRole('button', { name: /^Best/ }).click()
  await page.locator('.choice', { hasText: 'Oldest' }).click()
  await page.waitForURL('**sort=oldest')
  await page.locator('[data-at="0"]').waitFor()
  expect(await page.locator('.list-body').evaluate((list) => list.scrollTop)).toBe(0)
})

test('the first key is searched at once, keys that follow fast are searched together', async () => {
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
  await page.locator('[data-hit] mark').first().waitFor()
  expect(asked).toEqual(['p', 'plum*'])
})

test('places and field are there before the script', async () => {
  const html = await (await fetch(place.server().url)).text()
  const bare = await place.tab()
  await bare.setContent(html.replaceAll(/<script[^>]*><\/script>/g, ''))
  expect(await bare.locator('.app').innerText()).toMatch(/cursordex/)
  expect(await bare.locator('.search-field input').isVisible()).toBe(true)
})
