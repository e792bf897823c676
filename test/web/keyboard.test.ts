import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { holds, openBrowser, visit } from './browser.ts'
import { Demo } from './demo.ts'

let demo: Demo
let browser: Browser
beforeAll(async () => {
  demo = await Demo.start()
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await demo?.stop()
})

const IS_HIT = `document.activeElement.hasAttribute('data-hit')`

test('the whole way by keyboard alone: search, choose, open, read, unfold, walk, return', async () => {
  const { page, context, faults } = await visit(browser, demo.url)
  const { keyboard } = page
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  await keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await keyboard.press('/')
  await keyboard.type('getUserName throws')
  await keyboard.press('Enter')
  await page.waitForURL('**q=getUserName**')
  await page.locator('.found .hit').first().waitFor()
  await keyboard.press('Escape')
  await keyboard.press('j')
  await holds(page, IS_HIT)
  await keyboard.press('j')
  await keyboard.press('k')
  await holds(page, `document.activeElement === document.querySelector('[data-hit]')`)
  await keyboard.press('Enter')
  await page.waitForURL('**/chats/**')
  await holds(page, `document.activeElement.hasAttribute('data-message')`)
  // Tab reaches the run of calls, and Enter opens it.
  for (let presses = 0; presses < 40; presses += 1) {
    await keyboard.press('Tab')
    if (await page.evaluate<boolean>(`document.activeElement.matches('details.run > summary')`)) break
  }
  await keyboard.press('Enter')
  await holds(page, `document.querySelector('details.run[open]')`)
  await keyboard.press('J')
  await holds(page, `document.activeElement.matches('.said.user')`)
  await keyboard.press('Control+k')
  await holds(page, `document.activeElement.matches('.search-field input')`)
  await page.goBack()
  await page.locator('.found .hit').first().waitFor()
  await context.close()
  expect(faults).toEqual([])
})
