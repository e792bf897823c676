import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mirrorPath } from '../../src/engine/data-folder.ts'
import { giveChat } from '../../src/mirror/machines/write-machines.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { asChatId } from '../../src/model/ids.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { axeViolations, holds, overflow, visit } from './browser.ts'
import { PageOfChats } from './page-of-chats.ts'

let place: PageOfChats

beforeAll(async () => {
  place = await PageOfChats.open((home) => fillStore(home.global(), { chats: 5, messagesPerChat: 2 }))
})
afterAll(() => place?.remove())

const tagsIn = (page: Page) => page.locator('main .tag').allTextContents()
const searched = async (page: Page): Promise<void> => {
  await page.goto('/?q=plum')
  await page.locator('.found .hit').first().waitFor()
  await holds(page, `document.querySelectorAll('.facet').length > 0`)
}

test('chats of other machines are marked in lists, hits and the chat, and can be filtered', async () => {
  const { page, context, faults } = await visit(place.browser, place.daemon.url, { width: 400 })
  await searched(page)
  expect(await page.locator('.facet h2').allTextContents()).not.toContain('Machine')
  const db = openWriter(mirrorPath(place.daemon.dataDir))
  giveChat(db, asChatId('chat-1'), { uuid: 'u-1', name: 'laptop', user: 'ada' })
  giveChat(db, asChatId('chat-2'), { uuid: 'u-2', name: 'a-build-server-with-a-long-name.example.com', user: 'grace' })
  db.close()

  await page.goto('/')
  await page.locator('.chat-list .tag').first().waitFor()
  expect(await tagsIn(page)).toEqual(['a-build-server-with-a-long-name.example.…', 'laptop'])
  expect(await overflow(page)).toBe(0)

  await searched(page)
  expect(await tagsIn(page)).toHaveLength(2)
  await page.getByText('Filters', { exact: true }).click()
  await page.locator('.facet a', { hasText: 'laptop' }).click()
  await page.getByRole('button', { name: 'Remove machine: laptop' }).waitFor()
  await holds(page, `document.querySelectorAll('.found .hit').length === 1`)
  expect(new URL(page.url()).searchParams.get('machine')).toBe('ada/laptop')

  await page.goto('/chats/chat-1')
  await page.locator('.thread [data-message]').first().waitFor()
  expect(await page.locator('.chat-head .tag').allTextContents()).toEqual(['laptop'])
  expect(await page.locator('.said.user .said-head b').first().textContent()).toBe('ada')
  expect(await axeViolations(page)).toEqual([])
  await context.close()
  expect(faults).toEqual([])
})
