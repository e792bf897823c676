import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { holds } from './browser.ts'
import { startChats, startDemo, usePlace, useTabs } from './place.ts'

// What people come for, each with the clicks that it may take.

const openTab = useTabs()
let page: Page
let clicks = 0
const click = async (target: Locator): Promise<void> => {
  clicks += 1
  await target.click()
}
const place = (name: string): Locator => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })
const button = (name: string | RegExp): Locator => page.getByRole('button', { name })
const field = (): Locator => page.getByRole('combobox', { name: 'Search all chats' })

describe('over the demo', () => {
  const demo = usePlace(startDemo, openTab)
  beforeEach(async () => {
    page = await demo.tab({ width: 1440 })
    clicks = 0
    await page.goto('/')
    await page.locator('[data-hit]').first().waitFor()
  })

  test('a symbol: typed, and one click opens the chat at the place', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('getUserName throws')
    await page.waitForURL('**q=getUserName**')
    await click(page.locator('[data-hit]', { hasText: 'getUserName throws' }).first())
    await page.locator('.thread [data-message]').first().waitFor()
    await holds(page, `CSS.highlights.get('found')?.size > 0`)
    // The list is still there, with the open chat marked.
    expect(await page.locator('[data-hit][aria-current]').count()).toBe(1)
    expect(clicks).toBe(1)
  })

  test('a vague sentence finds the chat that comes closest, and says which words it lacks', async () => {
    await field().fill('why did the getUserName function crash for a zebra')
    await field().press('Enter')
    await page.getByRole('heading', { name: 'Closest chats' }).waitFor()
    expect(await page.locator('[data-at="0"]').innerText()).toMatch(/getUserName[^]*without\s+.*zebra/)
    expect(await page.locator('[data-at="0"] del').allInnerTexts()).toContain('zebra')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('.thread [data-message]').first().waitFor()
    expect(clicks).toBe(0)
  })

  test('the chats of a project in the last month, then those of another project', async () => {
    await click(place('shop'))
    await click(button(/^Date/))
    await click(page.locator('.choice', { hasText: 'Last month' }))
    await page.waitForURL(/from=.*to=/)
    await page.keyboard.press('Escape')
    await click(place('atlas'))
    await button('Remove project: atlas').waitFor()
    await holds(page, `[...document.querySelectorAll('.row-project')].every((one) => one.innerText === 'atlas')`)
    expect(new URL(page.url()).searchParams.has('from')).toBe(true)
    expect(clicks).toBeLessThanOrEqual(4)
  })

  test('when a file was edited, and by which chat', async () => {
    await click(place('Files'))
    await click(page.getByRole('link', { name: 'src/user/getUserName.ts' }))
    const edits = page.locator('.edit')
    await edits.first().waitFor()
    expect(await edits.first().innerText()).toMatch(/getUserName throws[^]*\+2[^]*−2/)
    expect(await edits.first().locator('time').count()).toBe(1)
    expect(await edits.first().locator('.diff .added').count()).toBeGreaterThan(0)
    expect(clicks).toBeLessThanOrEqual(2)
  })

  test('an open chat is exported, with secrets masked unless one asks otherwise', async () => {
    await page.locator('[data-hit]').first().click()
    await page.locator('.thread [data-message]').first().waitFor()
    await click(button(/^Share/))
    expect(await page.getByLabel('Mask secrets').isChecked()).toBe(true)
    const saved = page.waitForEvent('download')
    await click(page.getByRole('button', { name: 'Markdown' }))
    const download = await saved
    expect(download.suggestedFilename()).toMatch(/\.md$/)
    expect(readFileSync(await download.path(), 'utf8').length).toBeGreaterThan(100)
    expect(clicks).toBe(2)
  })

  test('tokens by model in the last month', async () => {
    await click(place('Usage'))
    await click(button('30 days'))
    await page.waitForURL('**from=**')
    await page.getByRole('region', { name: 'Tokens: Models' }).getByRole('row').nth(1).waitFor()
    expect(clicks).toBeLessThanOrEqual(2)
  })

  test('what was lost is read in the list, and recognised in its chat', async () => {
    await click(place('Safety'))
    const words = page.locator('td.words', { hasText: 'DatevHeader' })
    await words.waitFor()
    expect(await words.innerText()).toMatch(/DatevHeader/)
    await click(
      page
        .getByRole('row', { name: /DatevHeader/ })
        .getByRole('link')
        .first(),
    )
    const kept = page.locator('.gone', { hasText: 'Cursor deleted this message. cursordex kept it.' })
    await kept.first().waitFor()
    expect(clicks).toBe(2)
  })
})

describe('over many chats', () => {
  const CHATS = 90
  const chats = usePlace(
    () => startChats((home) => fillStore(home.global(), { chats: CHATS, messagesPerChat: 4 })),
    openTab,
  )

  test.each([800, 1200])('Back from hit 46 is at hit 46 again, with its scroll: %i pixels', async (width) => {
    page = await chats.tab({ width })
    await page.goto('/?q=plum')
    const list = page.locator('.list-body')
    await page.locator('[data-at="0"]').waitFor()
    await waitUntil('hit 46', async () => {
      await list.evaluate((one) => one.scrollBy(0, 600))
      return (await page.locator('[data-at="46"]').count()) > 0
    })
    await page.locator('[data-at="46"]').scrollIntoViewIfNeeded()
    await page.waitForTimeout(200)
    const scroll = await list.evaluate((one) => one.scrollTop)
    const chat = await page.locator('[data-at="46"] .row-title').innerText()
    await page.locator('[data-at="46"]').click()
    await page.getByRole('heading', { name: chat, level: 1 }).waitFor()
    await page.goBack()
    await page.waitForURL('**/?q=plum')
    await holds(page, `document.activeElement.dataset.at === '46'`)
    expect(Math.abs((await list.evaluate((one) => one.scrollTop)) - scroll)).toBeLessThanOrEqual(2)
    // Its place is in the address too: it is found again where nothing is remembered.
    await page.locator('[data-at="46"]').click()
    await page.getByRole('heading', { name: chat, level: 1 }).waitFor()
    await page.goto(page.url())
    await page.locator('[data-at="46"][aria-current]').waitFor({ state: 'attached' })
  })

  test('an archive is verified, and what is missing here is restored', async () => {
    const { daemon } = chats.server()
    await daemon.post('/api/archives')
    await waitUntil('the archive', async () => {
      const { items } = await daemon.get<{ items: { state: string }[] }>('/api/archives')
      return items[0]?.state === 'verified'
    })
    const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
    const home = new CursorHome()
    cpSync(join(daemon.dataDir, 'archives'), join(dataDir, 'archives'), { recursive: true })
    const other = await RunningDaemon.start({ userDirs: [home.userDir], dataDir })
    try {
      await other.waitReady()
      clicks = 0
      page = await openTab(other.url, { width: 1200 })
      await page.goto('/')
      await page.getByRole('heading', { name: 'No chats yet' }).waitFor()
      await click(place('Safety'))
      await click(button('Verify'))
      await page.getByText(/^Proven: \d+ files? read back and equal/).waitFor()
      await click(button('Restore…'))
      await page.getByText(`${CHATS * 4} messages would be added, ${CHATS} chats of them new`).waitFor()
      await click(button(/^Restore \d+ messages/))
      await page.getByText(/^Restored: 360 messages and 90 chats came back/).waitFor()
      expect(clicks).toBeLessThanOrEqual(4)
      expect((await other.get<{ total: number }>('/api/chats')).total).toBe(CHATS)
    } finally {
      await other.stop()
      home.remove()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})
