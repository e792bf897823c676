import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openBrowser, visit } from './browser.ts'
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
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/2026-01/)
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
  await page.getByText(/^Table of/).click()
  const table = page.getByRole('region', { name: 'Messages by week' })
  expect(await table.getByRole('row').count()).toBeGreaterThan(10)
})

test('an archive is made and verified', async () => {
  await page.goto('/archives')
  await page.getByRole('heading', { name: 'No archive yet' }).waitFor()
  await page.getByRole('button', { name: 'Archive everything now' }).click()
  await page.locator('.card .tag.verified').waitFor()
  await page.getByRole('button', { name: /^Verify/ }).click()
  await page.getByText(/^Proven: \d+ chats? read back and equal/).waitFor()
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
