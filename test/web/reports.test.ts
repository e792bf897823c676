import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openBrowser, savedCsv, visit } from './browser.ts'
import { Demo } from './demo.ts'

let demo: Demo
let browser: Browser
let page: Page
let close: () => Promise<void>
let faults: string[]

beforeAll(async () => {
  demo = await Demo.start()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await demo?.stop()
})
beforeEach(async () => {
  const opened = await visit(browser, demo.url)
  page = opened.page
  faults = opened.faults
  close = () => opened.context.close()
})
afterEach(async () => {
  await close()
  expect(faults).toEqual([])
})

test('tokens of a month are shown, each source by itself, and saved as CSV', async () => {
  await page.goto('/tokens')
  await page.getByRole('button', { name: 'month' }).click()
  await page.waitForURL('**bucket=month')
  const table = page.getByRole('region', { name: 'Tokens: By month' })
  await table.getByRole('rowheader', { name: '2026-01' }).waitFor()
  expect(await table.innerText()).toMatch(/unknown/)
  const months = await savedCsv(page, 'Tokens: By month')
  expect(months.map(({ key }) => key)).toContain('2026-01-01')
  const projects = await savedCsv(page, 'Tokens: Projects')
  expect(Number(projects.find(({ label }) => label === 'shop')?.['recorded input'])).toBeGreaterThan(0)
  expect(await savedCsv(page, 'Tokens: Models')).not.toEqual([])
})

test('dragging over a chart chooses its time', async () => {
  await page.goto('/stats')
  const plot = page.locator('.u-over').first()
  await plot.waitFor()
  const box = await plot.boundingBox()
  if (box === null) throw new Error('The chart has no place.')
  await page.mouse.move(box.x + box.width * 0.3, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 8 })
  await page.mouse.up()
  await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=\d{4}-\d\d-\d\d/)
  await page.getByRole('button', { name: 'All' }).click()
  await page.waitForURL((url) => !url.searchParams.has('from'))
})

test('each chart has its numbers in a table', async () => {
  await page.goto('/stats')
  await page.getByText(/^Table of \d+ weeks/).click()
  const table = page.getByRole('region', { name: 'Messages by week' })
  expect(await table.getByRole('row').count()).toBeGreaterThan(10)
})

test('hours and weekdays are a heatmap with a table, and the table is saved as CSV', async () => {
  await page.goto('/stats')
  const map = page.getByRole('img', { name: /^Shades by hour and weekday/ })
  await map.waitFor()
  expect(await map.locator('.heat').count()).toBe(7 * 24)
  expect(await map.locator('.heat-5').count()).toBeGreaterThan(0)
  await page.getByText('Table of 24 hours').click()
  const table = page.getByRole('region', { name: 'Messages by hour and weekday' })
  const total = await table
    .getByRole('row', { name: /^All hours/ })
    .getByRole('cell')
    .allInnerTexts()
  const hours = await savedCsv(page, 'Messages by hour and weekday')
  expect(hours.map(({ Hour }) => Hour)).toEqual(
    Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
  )
  const sumOf = (column: string): number => hours.reduce((sum, row) => sum + Number(row[column]), 0)
  const columns = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun', 'All days']
  expect(columns.map(sumOf)).toEqual(total.map((each) => Number(each.replaceAll(',', ''))))
  expect(sumOf('All days')).toBeGreaterThan(300)
  expect(await map.locator('.heat:not(.heat-0)').count()).toBe(
    hours.flatMap((row) => columns.slice(0, 7).filter((day) => row[day] !== '0')).length,
  )
})

test.each([
  ['Messages by week', ['week', 'Messages', 'Prompts', 'Tool calls', 'Chats'], 50],
  ['Messages by hour', ['hour', 'Messages'], 24],
  ['Messages by weekday', ['weekday', 'Messages'], 7],
  ['Projects', ['Project', 'Chats', 'Messages'], 6],
  ['Tools', ['Tool', 'Calls', 'Failed'], 13],
  ['Models', ['Model', 'Chats', 'Messages'], 5],
  ['Most used files', ['File', 'Reads', 'Edits'], 20],
  ['Largest chats', ['Chat', 'Messages', 'Size'], 10],
  ['Modes', ['Mode', 'Chats'], 4],
] as const)('the table "%s" is saved as CSV', async (title, columns, rows) => {
  await page.goto('/stats')
  await page.getByText(/^Table of \d+ weeks/).click()
  const saved = await savedCsv(page, title)
  expect(Object.keys(saved[0] ?? {})).toEqual(columns)
  expect(saved.length).toBeGreaterThanOrEqual(rows)
  const numbers = saved.flatMap((row) => columns.slice(1).map((column) => row[column] ?? ''))
  expect(numbers.filter((number) => !/^\d+$/.test(number))).toEqual([])
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

test('a project has its chats and its statistics', async () => {
  await page.goto('/?q=getUserName')
  await page.locator('.hit-facts a', { hasText: 'shop' }).first().click()
  await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor()
  await page.getByRole('heading', { name: 'Newest chats' }).waitFor()
  await page.locator('.figures').waitFor()
})

test('a project whose folder is gone says why it has no commits', async () => {
  const { items } = await demo.get<{ items: { id: string; name: string }[] }>('/api/projects')
  const open = async (name: string): Promise<void> => {
    await page.goto(`/projects/${items.find((project) => project.name === name)?.id}`)
  }
  await open('shop')
  await page.getByText('The folder of this project is not on this machine, so its commits cannot be read.').waitFor()
  await open('fleet-gateway')
  await page
    .getByText('The folder of this project is on another machine, so its commits cannot be read here.')
    .waitFor()
})
