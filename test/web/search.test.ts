import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { holds, openBrowser, visit } from './browser.ts'
import { waitUntil } from '../helpers/wait-until.ts'
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

const field = () => page.getByRole('combobox', { name: 'Search all chats' })
const hits = () => page.locator('.found > .hits > .hit')
const titles = () => page.locator('[data-hit]').allInnerTexts()

test('without a query the newest chats are shown', async () => {
  await page.goto('/')
  await page.getByRole('heading', { name: 'Newest chats' }).waitFor()
  expect(await page.locator('.chat-list > li').count()).toBe(20)
})

test('a chat is found while its words are typed, and the address holds what was typed', async () => {
  await page.goto('/')
  await field().pressSequentially('getUserNa', { delay: 15 })
  await hits().first().waitFor()
  await page.waitForURL('**/?q=getUserNa')
  await waitUntil('the chat', async () => (await titles()).some((title) => title.includes('getUserName')))
  expect(await hits().first().locator('mark').count()).toBeGreaterThan(0)
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

test('a whole sentence finds the closest chats, with the words that they lack struck through', async () => {
  await page.goto('/')
  await field().fill('why did the getUserName function crash for a zebra')
  await field().press('Enter')
  const related = page.locator('.related .hit')
  await related.first().waitFor()
  expect(await related.first().innerText()).toMatch(/getUserName/)
  expect(await related.locator('del').allInnerTexts()).toContain('zebra')
})

test('facets narrow the results, and chips remove them again', async () => {
  await page.goto('/?q=user')
  const facet = page.locator('.facet a', { hasText: 'ledger-api' })
  await facet.waitFor()
  const before = await hits().count()
  await facet.click()
  await page.waitForURL('**project=**')
  const chip = page.getByRole('button', { name: 'Remove project: ledger-api' })
  await chip.waitFor()
  await holds(page, `document.querySelectorAll('.found > .hits > .hit').length < ${before}`)
  await chip.click()
  await holds(page, `document.querySelectorAll('.found > .hits > .hit').length === ${before}`)
  await page.locator('.facet a', { hasText: '2026-01' }).click()
  await page.getByRole('button', { name: 'Remove month: 2026-01' }).waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toBe('2026-01-01')
  expect(new URL(page.url()).searchParams.get('to')).toBe('2026-02-01')
})

test('the order is part of the address', async () => {
  await page.goto('/?q=user')
  await hits().first().waitFor()
  await page.getByLabel('Order').selectOption('oldest')
  await page.waitForURL('**sort=oldest')
  await hits().first().waitFor()
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

test('the script of the first load has at most 25 KB', async () => {
  const sizes: number[] = []
  page.on('response', async (response) => {
    if (response.url().endsWith('.js')) sizes.push((await response.request().sizes()).responseBodySize)
  })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Newest chats' }).waitFor()
  await page.waitForTimeout(300)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  console.log(`script on first load: ${(total / 1000).toFixed(1)} KB compressed`)
  expect(total).toBeGreaterThan(5000)
  expect(total).toBeLessThanOrEqual(25_000)
})
