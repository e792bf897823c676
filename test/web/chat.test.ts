import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { holds, openBrowser, visit } from './browser.ts'
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

test('a run of calls unfolds, and a failed command shows its output', async () => {
  await openHit('getUserName throws')
  const run = page.locator('details.run', { hasText: 'failed' }).first()
  await run.locator('> summary').click()
  const call = run.locator('details.call[data-status="error"]').first()
  await call.locator('> summary').click()
  expect(await call.innerText()).toMatch(/npm test/)
  await call.getByText('Command failed with exit code 1').waitFor()
  await call.getByText('AssertionError').waitFor()
})

test('Markdown is rendered and code is coloured', async () => {
  await openHit('getUserName throws')
  await page.locator('.prose code').first().waitFor()
  await page.locator('figure.code [class^="hljs-"]').first().waitFor()
})

test('a chat is exported, with secrets masked unless one asks otherwise', async () => {
  await openHit('getUserName throws')
  await page.getByText('Export', { exact: false }).first().click()
  expect(await page.getByLabel('Mask secrets').isChecked()).toBe(true)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Markdown' }).click()
  const download = await saved
  expect(download.suggestedFilename()).toMatch(/\.md$/)
  expect(readFileSync(await download.path(), 'utf8')).toMatch(/getUserName/)
})

test('the facts say where they come from', async () => {
  await openHit('getUserName throws')
  const side = page.getByRole('complementary', { name: 'About this chat' })
  expect(await side.innerText()).toMatch(/Project\s+shop by [\w ]+/)
  expect(await side.innerText()).toMatch(/unknown/)
})

test('an unknown chat and an unknown message say so', async () => {
  await page.goto('/chats/nobody')
  await page.getByRole('heading', { name: 'No such chat' }).waitFor()
  const { items } = await demo.get<{ items: { id: string }[] }>('/api/chats?limit=1')
  await page.goto(`/chats/${encodeURIComponent(items[0]?.id ?? '')}#nothing`)
  await page.locator('.thread [data-message]').first().waitFor()
})
