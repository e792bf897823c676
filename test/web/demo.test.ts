import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../helpers/wait-until.ts'
import { holds, savedCsv } from './browser.ts'
import { startDemo, usePlace } from './place.ts'

// The page over the demo, as a person uses it.

const demo = usePlace(startDemo)
let page: Page
beforeEach(async () => {
  page = await demo.tab()
})

const field = () => page.getByRole('combobox', { name: 'Search all chats' })
const hits = () => page.locator('[data-hit]')
const titles = () => page.locator('.row-title').allInnerTexts()
const choose = async (menu: string | RegExp, value: string | RegExp): Promise<void> => {
  await page.getByRole('button', { name: menu }).click()
  await page.locator('.choice', { hasText: value }).click()
}

test('without a query all chats are listed, newest first, by day, and only those in sight are in the document', async () => {
  await page.goto('/')
  await hits().first().waitFor()
  const { items } = await demo.get<{ items: { id: string }[] }>('/api/chats?limit=200')
  expect(items.length).toBeGreaterThan(40)
  expect(await page.locator('.row-heading').first().innerText()).toMatch(/^(Today|Yesterday)$/)
  expect(await hits().count()).toBeLessThan(40)
  await page.getByText(`${items.length} chats`).waitFor()
  // More are fetched as the end comes near.
  await waitUntil('the last one', async () => {
    await page.locator('.list-body').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    return page.locator(`[data-at="${items.length - 1}"]`).isVisible()
  })
})

test('a chat is found while its words are typed, and the address holds what was typed', async () => {
  await page.goto('/')
  await field().pressSequentially('getUserNa', { delay: 15 })
  await page.waitForURL('**/?q=getUserNa')
  await waitUntil('the chat', async () => (await titles()).some((title) => title.includes('getUserName')))
  await waitUntil('its mark', () => hits().first().locator('mark').first().isVisible())
})

test('Enter searches exactly what is typed, and Back returns to the chats', async () => {
  await page.goto('/')
  await field().fill('session')
  await field().press('Enter')
  await page.waitForURL('**/?q=session')
  await hits().first().waitFor()
  await field().fill('checkout')
  await field().press('Enter')
  await page.waitForURL('**/?q=checkout')
  await page.goBack()
  await page.waitForURL((url) => !url.search.includes('checkout'))
  await page.goto('/?q=session')
  await hits().first().waitFor()
  expect(await field().inputValue()).toBe('session')
})

test('a filter is chosen beside others that stay to choose, and its token removes it again', async () => {
  await page.goto('/?q=user')
  await hits().first().waitFor()
  await choose(/^Project/, 'ledger-api')
  await page.waitForURL('**project=**')
  await page.getByRole('button', { name: 'Remove project: ledger-api' }).waitFor()
  await holds(page, `[...document.querySelectorAll('.row-project')].every((one) => one.innerText === 'ledger-api')`)
  // The menu is still open, and has the other project with its own count.
  await page.locator('.choice', { hasText: 'shop' }).click()
  await page.getByRole('button', { name: 'Remove project: shop' }).waitFor()
  expect(new URL(page.url()).searchParams.getAll('project')).toHaveLength(2)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Remove project: shop' }).click()
  await page.getByRole('button', { name: 'Remove project: ledger-api' }).click()
  await page.waitForURL('**/?q=user')
  await choose(/^Date/, 'Last 30 days')
  await page.waitForURL('**from=30d**')
  await page.getByRole('button', { name: 'Remove from: 30d' }).waitFor()
})

test('a typed filter becomes a token when it is finished, and Backspace takes it away', async () => {
  await page.goto('/')
  await field().pressSequentially('role:user getUserName', { delay: 10 })
  await page.waitForURL((url) => url.searchParams.get('role') === 'user')
  expect(await field().inputValue()).toBe('getUserName')
  await page.getByRole('button', { name: 'Remove said by: user' }).waitFor()
  await field().fill('')
  await field().press('Backspace')
  await page.waitForURL((url) => !url.searchParams.has('role'))
})

const DARK = 'rgb(23, 24, 27)'
const background = () => page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)

test('Ctrl K goes to a place by its name, from any place', async () => {
  await page.goto('/stats')
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  await page.keyboard.press('Control+k')
  await holds(page, `document.activeElement.matches('.search-field input')`)
  await page.keyboard.type('theme')
  await page.getByRole('option', { name: /^go to Settings/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/settings')
  await page.getByRole('button', { name: 'Dark' }).click()
  expect(await background()).toBe(DARK)
})

test('the field offers what can be done: to the open chat, the archives and the page', async () => {
  await openHit('getUserName throws')
  const offered = async (typed: string, name: RegExp) => {
    await page.keyboard.press('Control+k')
    await holds(page, `document.activeElement.matches('.search-field input')`)
    await field().fill(typed)
    const option = page.getByRole('option', { name })
    await option.waitFor()
    return option
  }
  const saved = page.waitForEvent('download')
  await (await offered('export markdown', /^do Export this chat as Markdown/)).click()
  expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/getUserName/)
  await page.getByText('The chat is saved as Markdown.').waitFor()
  await (await offered('theme: dark', /^do Theme: Dark/)).click()
  expect(await background()).toBe(DARK)
  await (await offered('verify', /^do Verify the newest archive/)).click()
  const said = page.locator('.newest')
  await said.getByText('No archive has this name: "newest".').waitFor()
  await said.click()
  await said.waitFor({ state: 'detached' })
})

test('a misspelt word offers the right one', async () => {
  await page.goto('/?q=getUserNmae')
  await page.locator('.suggestions').waitFor()
  expect(await page.locator('.suggestions').innerText()).toMatch(/getUserName|getusername/i)
})

test('nothing found says what would help', async () => {
  await page.goto('/?q=qqzzxxvv')
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
})

test('fields are completed as they are typed', async () => {
  await page.goto('/')
  await field().pressSequentially('user proj', { delay: 20 })
  const option = page.getByRole('option', { name: 'project:' })
  await option.waitFor()
  await field().press('ArrowDown')
  await field().press('Enter')
  expect(await field().inputValue()).toBe('user project:')
})

test('the script of the first load has at most 42 KB', async () => {
  const sizes: number[] = []
  page.on('response', async (response) => {
    if (response.url().endsWith('.js')) sizes.push((await response.request().sizes()).responseBodySize)
  })
  await page.goto('/')
  await hits().first().waitFor()
  await page.waitForTimeout(300)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`script on first load: ${(total / 1000).toFixed(1)} KB compressed`)
  expect(total).toBeGreaterThan(5000)
  expect(total).toBeLessThanOrEqual(42_000)
})

test('the first hit is within five presses of Tab', async () => {
  await page.goto('/?q=user')
  await hits().first().waitFor()
  for (let presses = 1; presses <= 5; presses += 1) {
    await page.keyboard.press('Tab')
    if (await page.evaluate<boolean>("document.activeElement.hasAttribute('data-hit')")) return
  }
  throw new Error('five presses of Tab did not reach a hit')
})

const focusedMessage = () => page.evaluate<string | null>(`document.activeElement.getAttribute('data-message')`)
const target = () => page.evaluate<string>(`decodeURIComponent(location.hash.slice(1))`)

/** Searches, and opens the first hit. */
async function openHit(q: string): Promise<void> {
  await page.goto(`/?q=${encodeURIComponent(q)}`)
  await page.locator('[data-hit]').first().click()
  await page.locator('.thread [data-message]').first().waitFor()
}

test('a hit opens its chat at the message, and marks it', async () => {
  await openHit('getUserName')
  const message = await target()
  expect(message).not.toBe('')
  await holds(page, `document.activeElement.getAttribute('data-message') === ${JSON.stringify(message)}`)
  await holds(page, `CSS.highlights.get('found')?.size > 0`)
})

test('n and p walk the hits, J and K the prompts', async () => {
  const { items } = await demo.get<{ items: { id: string }[] }>('/api/chats?q=getUserName+throws&limit=1')
  await page.goto(`/chats/${encodeURIComponent(items[0]?.id ?? '')}?q=getUserName`)
  await page.locator('.thread [data-message]').first().waitFor()
  await page.getByText(/Hit 1 of \d+/).waitFor()
  await page.keyboard.press('n')
  await page.getByText(/Hit 2 of \d+/).waitFor()
  await page.keyboard.press('p')
  await page.getByText(/Hit 1 of \d+/).waitFor()
  const prompts = await page.locator('.said.user').count()
  expect(prompts).toBeGreaterThan(1)
  await page.locator('.said.user').first().focus()
  const first = await focusedMessage()
  await page.keyboard.press('J')
  await holds(
    page,
    `document.activeElement.matches('.said.user') && document.activeElement.getAttribute('data-message') !== ${JSON.stringify(first)}`,
  )
  await page.keyboard.press('K')
  await holds(page, `document.activeElement.getAttribute('data-message') === ${JSON.stringify(first)}`)
})

test('what an agent did is seen without a click: each step by its verb, the failed command with its output', async () => {
  await openHit('getUserName throws')
  const steps = page.locator('.call > summary')
  const lines = (await steps.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
  expect(lines.map((line) => line.replace(/^Thought.*/, 'Thought'))).toEqual([
    'Thought',
    'Searched getUserName 3 in 3 files',
    'Read src/user/getUserName.ts 7 lines',
    'Edited src/user/getUserName.ts +2 −2',
    'Ran npm test -- --run test/user exit 1',
    'Edited test/user/getUserName.test.ts +1 −1',
    'Ran npm test -- --run test/user',
  ])
  const failed = page.locator('details.call[data-status="error"]')
  await failed.getByText('AssertionError').waitFor()
  expect(await failed.getAttribute('open')).not.toBeNull()
  // Small edits are open too, with the changed words marked.
  expect(await page.locator('.diff .added mark').first().innerText()).toMatch(/undefined/)
})

test('the views are part of the address: prompts, changes by file, and back to the chat', async () => {
  await openHit('getUserName throws')
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.waitForURL('**view=changes**')
  const headings = page.locator('.file-changes h2')
  await headings.nth(1).waitFor()
  expect((await headings.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    'src/user/getUserName.ts +2 −2',
    'test/user/getUserName.test.ts +1 −1',
  ])
  await page.getByRole('button', { name: 'Prompts' }).click()
  await page.waitForURL('**view=prompts**')
  await page.locator('.said.user').nth(1).waitFor()
  expect(await page.locator('.thread [data-message]').count()).toBe(2)
  await page.getByRole('button', { name: 'What came of it' }).last().click()
  await page.waitForURL((url) => !url.searchParams.has('view'))
  await holds(page, `document.activeElement.matches('.said.user')`)
})

test('Ctrl F finds in the chat, and f goes to the failure', async () => {
  await openHit('getUserName throws')
  await page.keyboard.press('f')
  await holds(page, `document.activeElement.matches('[data-status="error"] > summary')`)
  await page.keyboard.press('Control+f')
  await holds(page, `document.activeElement.matches('.find-bar input')`)
  await page.keyboard.type('guests')
  await page.waitForURL('**find=guests**')
  await page.locator('.find-bar [aria-live]', { hasText: /hit/i }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => url.searchParams.get('find') === '')
  expect(await page.locator('.find-bar').count()).toBe(0)
})

test('a link is copied without a clipboard API, and the menu closes by itself', async () => {
  await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
  await openHit('getUserName throws')
  await page.getByRole('button', { name: /^Share/ }).click()
  await page.getByRole('button', { name: 'Copy link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.locator('h1').last().click()
  await page.getByLabel('Mask secrets').waitFor({ state: 'hidden' })
})

test('the script of the screen of a chat has at most 85 KB without highlighting', async () => {
  const sizes = new Map<string, number>()
  page.on('response', async (response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js')) sizes.set(pathname, (await response.request().sizes()).responseBodySize)
  })
  await openHit('getUserName throws')
  await page.locator('.prose code').first().waitFor()
  await page.locator('figure.code [class^="hljs-"]').first().waitFor()
  const all = [...sizes].filter(([name]) => !name.includes('highlight'))
  expect(all.length).toBeLessThan(sizes.size)
  const total = all.reduce((sum, [, size]) => sum + size, 0)
  console.log(`script of a chat: ${(total / 1000).toFixed(1)} KB compressed, without highlighting`)
  expect(total).toBeLessThanOrEqual(85_000)
})

test('the facts say where they come from', async () => {
  await openHit('getUserName throws')
  const side = page.getByRole('complementary', { name: 'About this chat' })
  await side.locator('summary').first().click()
  expect(await side.innerText()).toMatch(/Project\s+shop by [\w ]+/)
  expect(await side.innerText()).toMatch(/\d+ facts? not recorded/)
})

test('an unknown chat and an unknown message say so', async () => {
  await page.goto('/chats/nobody')
  await page.getByRole('heading', { name: 'No such chat' }).waitFor()
  const { items } = await demo.get<{ items: { id: string }[] }>('/api/chats?limit=1')
  await page.goto(`/chats/${encodeURIComponent(items[0]?.id ?? '')}#nothing`)
  await page.locator('.thread [data-message]').first().waitFor()
})

const IS_FIRST = `document.activeElement === document.querySelector('[data-hit]')`

test('the whole way by keyboard alone: search, choose, open, read, unfold, walk, return', async () => {
  const { keyboard } = page
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  await keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await keyboard.press('j')
  await holds(page, IS_FIRST)
  await keyboard.press('j')
  await holds(page, `document.activeElement.dataset.at === '1'`)
  await keyboard.press('k')
  await holds(page, IS_FIRST)
  await keyboard.press('/')
  await keyboard.type('getUserName throws')
  await keyboard.press('Enter')
  await page.waitForURL('**q=getUserName**')
  await hits().first().waitFor()
  await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
  await keyboard.press('Escape')
  await keyboard.press('j')
  await holds(page, IS_FIRST)
  await keyboard.press('Enter')
  await page.waitForURL('**/chats/**')
  await holds(page, `document.activeElement.hasAttribute('data-message')`)
  // Tab reaches a step, and Enter opens it.
  for (let presses = 0; presses < 120; presses += 1) {
    await keyboard.press('Tab')
    if (await page.evaluate<boolean>(`document.activeElement.matches('details.call:not([open]) > summary')`)) break
  }
  await keyboard.press('Enter')
  await holds(page, `document.activeElement.matches('details.call[open] > summary')`)
  await keyboard.press('J')
  await holds(page, `document.activeElement.matches('.said.user')`)
  await keyboard.press('Control+k')
  await holds(page, `document.activeElement.matches('.search-field input')`)
  await page.goBack()
  await hits().first().waitFor()
})

test('tokens of a month are shown, each source by itself, and saved as CSV', async () => {
  await page.goto('/tokens')
  await page.getByRole('button', { name: 'month' }).click()
  await page.waitForURL('**bucket=month')
  const table = page.getByRole('region', { name: 'Tokens: By month' })
  await table.getByRole('rowheader', { name: '2026-01' }).waitFor()
  expect(await table.innerText()).toMatch(/unknown/)
  const months = await savedCsv(page, 'Tokens: By month')
  expect(months.map(({ month }) => month)).toContain('2026-01')
  const projects = await savedCsv(page, 'Tokens: Projects')
  expect(Number(projects.find(({ Project }) => Project === 'shop')?.['Recorded input'])).toBeGreaterThan(0)
  const models = await savedCsv(page, 'Tokens: Models')
  expect(models.some((row) => Number(row['At list price']) > 0)).toBe(true)
})

test('a bar of a chart leads to the chats of its time', async () => {
  await page.goto('/stats')
  await page.locator('.bars a[title*="Messages: 3"]').last().click()
  await page.waitForURL(/\/\?from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/)
  await hits().first().waitFor()
})

test('each chart has its numbers in a table', async () => {
  await page.goto('/stats')
  await page.getByText(/^Table of \d+ weeks/).click()
  const table = page.getByRole('region', { name: 'Messages by week' })
  expect(await table.getByRole('row').count()).toBeGreaterThan(10)
})

test('hours and weekdays are a table with shades, which is saved as CSV', async () => {
  await page.goto('/stats')
  const table = page.getByRole('table', { name: 'Messages by hour and weekday' })
  const monday = table.getByRole('row', { name: /^Mon/ }).getByRole('cell')
  await monday.first().waitFor()
  const hours = await savedCsv(page, 'Messages by hour and weekday')
  expect(hours.map(({ Hour }) => Hour)).toEqual(
    Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
  )
  expect(hours.map(({ Mon }) => Mon)).toEqual(await monday.allTextContents())
  const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
  const counts = hours.flatMap((row) => days.map((day) => Number(row[day])))
  expect(counts.reduce((sum, messages) => sum + messages)).toBeGreaterThan(300)
  expect(await table.locator('.busy').count()).toBe(counts.filter((messages) => messages > 0).length)
})

const tables = [
  ['Messages by week', ['week', 'Messages', 'Prompts', 'Tool calls', 'Chats'], 50],
  ['Projects', ['Project', 'Chats', 'Messages'], 6],
  ['Tools', ['Tool', 'Calls', 'Failed'], 13],
  ['Models', ['Model', 'Chats', 'Messages'], 5],
  ['Most used files', ['File', 'Reads', 'Edits'], 20],
] as const

test('each table of the statistics is saved as CSV', async () => {
  await page.goto('/stats')
  await page.getByText(/^Table of \d+ weeks/).click()
  for (const [title, columns, rows] of tables) {
    const saved = await savedCsv(page, title)
    expect([title, Object.keys(saved[0] ?? {})]).toEqual([title, columns])
    expect(saved.length).toBeGreaterThanOrEqual(rows)
    const numbers = saved.flatMap((row) => columns.slice(1).map((column) => row[column] ?? ''))
    expect([title, numbers.filter((number) => !/^\d+$/.test(number))]).toEqual([title, []])
  }
})

test('the last day of the time range is part of it', async () => {
  await page.goto('/stats?from=2026-03-01&to=2026-04-01')
  const last = page.getByLabel('to', { exact: true })
  expect(await last.inputValue()).toBe('2026-03-31')
  await last.fill('2026-03-30')
  await page.waitForURL('**to=2026-03-31*')
})

test('an archive is made and verified', async () => {
  await page.goto('/archives')
  await page.getByRole('heading', { name: 'No archive yet' }).waitFor()
  await page.getByRole('button', { name: 'Archive everything now' }).click()
  await page.locator('.card .tag.verified').waitFor()
  await page.getByRole('button', { name: /^Verify/ }).click()
  await page.getByText(/^Proven: \d+ files? read back and equal/).waitFor()
})

test('the status lists sources and what could not be read, with what to do', async () => {
  await page.goto('/status')
  await page.getByText('Everything is read and searchable.').waitFor()
  expect(await page.getByRole('region', { name: 'Sources' }).innerText()).toMatch(/state\.vscdb/)
})

test('a project whose folder is gone says why it has no commits', async () => {
  const { items } = await demo.get<{ items: { id: string; name: string }[] }>('/api/projects')
  // One was a local folder, and the other one is on another machine.
  for (const [name, why] of [
    ['shop', /^There is no folder .* on this machine/],
    ['fleet-gateway', 'The folder of fleet-gateway is not on this machine, and git runs only here.'],
  ] as const) {
    await page.goto(`/projects/${items.find((project) => project.name === name)?.id}`)
    await page.getByText('Commits, and the chats').click()
    await page.getByText(why).waitFor()
  }
})

// What a person feels and does not name: rows that jump while one types, a tab that grows all day.

test('what is on the screen does not move while one types', async () => {
  await page.goto('/')
  await hits().first().waitFor()
  // Also shifts soon after a key, which browsers leave out of their own sum.
  await page.evaluate(`window.shifted = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifted += entry.value
    }).observe({ type: 'layout-shift', buffered: false })`)
  await field().pressSequentially('getUserName null', { delay: 120 })
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
  page = await demo.tab({ width: 1440 })
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
