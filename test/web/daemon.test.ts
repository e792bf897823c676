import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { mirrorPath } from '../../src/engine/data-folder.ts'
import { giveChat } from '../../src/mirror/hub/hub.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { asChatId } from '../../src/model/ids.ts'
import { CursorHome, headers } from '../helpers/cursor.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { axeViolations, holds, overflow } from './browser.ts'
import { useTabs } from './place.ts'

const tab = useTabs()
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function makeHome(): CursorHome {
  const home = new CursorHome()
  ends.push(() => home.remove())
  return home
}

async function start(home: CursorHome, flags: readonly string[] = [], dataDir?: string): Promise<RunningDaemon> {
  const daemon = await RunningDaemon.start({
    userDirs: [home.userDir],
    flags,
    ...(dataDir === undefined ? {} : { dataDir }),
  })
  ends.push(() => daemon.stop())
  return daemon
}

test('a daemon that ends and starts again under an open page', async () => {
  const home = makeHome()
  fillStore(home.global(), { chats: 3, messagesPerChat: 4 })
  const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
  ends.push(() => rmSync(dataDir, { recursive: true, force: true }))
  const first = await start(home, [], dataDir)
  await first.waitReady()
  const { port } = new URL(first.url)
  const page = await tab(first.url)
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  await first.stop()
  await page.getByText('The daemon does not answer.').waitFor()
  const store = home.global()
  store.chat('late', {
    name: 'Written while it was away',
    fullConversationHeadersOnly: headers(['m']),
    lastUpdatedAt: Date.now(),
  })
  store.message('late', 'm', { type: 1, text: 'Late words' })
  // The later port wins over the one that the helper gives.
  await start(home, ['--port', port], dataDir)
  await page.getByText('The daemon does not answer.').waitFor({ state: 'detached' })
  await page.getByText('Written while it was away').waitFor()
})

test('with --auth nothing is shown without the token, and the address does not keep it', async () => {
  const home = makeHome()
  fillStore(home.global(), { chats: 2, messagesPerChat: 4 })
  const daemon = await start(home, ['--auth'])
  // The file is made for the first request.
  expect((await fetch(`${daemon.url}/api/status`)).status).toBe(401)
  const token = readFileSync(join(daemon.dataDir, 'token'), 'utf8').trim()
  const page = await tab(daemon.url)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Enter the token' }).waitFor()
  expect(await page.locator('[data-hit]').count()).toBe(0)
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Show my chats' }).click()
  await page.getByText('The token of this tab was refused.').waitFor()
  await page.getByLabel('Token').fill(token)
  await page.getByRole('button', { name: 'Show my chats' }).click()
  await page.locator('[data-hit]').first().waitFor()
  const other = await tab(daemon.url)
  await other.goto(`/#token=${encodeURIComponent(token)}`)
  await other.locator('[data-hit]').first().waitFor()
  expect(other.url()).not.toContain('token')
  await other.reload()
  await other.locator('[data-hit]').first().waitFor()
})

test('the first indexing is watched, says what is missing, and its chats appear by themselves', async () => {
  const home = makeHome()
  fillStore(home.global(), { chats: 800, messagesPerChat: 60 })
  const daemon = await start(home)
  const page = await tab(daemon.url)
  await page.goto('/')
  const missing = /Chats that are not read yet are missing here|about to be read/
  await page.locator('.state-line').getByText(missing).waitFor()
  await page.goto('/status')
  await page.locator('.state-line progress').waitFor()
  await page.locator('.tag', { hasText: 'indexing' }).waitFor()
  await page.goto('/')
  await page.locator('[data-hit]').first().waitFor()
  await daemon.waitReady()
  await page.locator('.state-line').waitFor({ state: 'detached' })
})

test('what Cursor deletes is listed, and opens what is kept', async () => {
  const home = makeHome()
  const store = home.global()
  store.chat('kept', { name: 'A chat with a loss', fullConversationHeadersOnly: headers(['a', 'b', 'c']) })
  for (const id of ['a', 'b', 'c']) store.message('kept', id, { type: 1, text: `Words of ${id}` })
  const daemon = await start(home)
  await daemon.waitReady()
  store.db.prepare("delete from cursorDiskKV where key = 'bubbleId:kept:b'").run()
  await waitUntil('the loss', async () => {
    await daemon.post('/api/sync')
    return (await daemon.get<{ total: number }>('/api/losses')).total > 0
  })
  const page = await tab(daemon.url, { width: 1440 })
  await page.goto('/')
  await page.getByRole('link', { name: 'Safety 1 lost' }).click()
  await page.getByRole('link', { name: 'A chat with a loss' }).click()
  await page.getByText('Cursor deleted this message. cursordex kept it.').waitFor()
  await holds(page, `document.activeElement.getAttribute('data-message') === 'b'`)
})

test('a tool call and a thinking that Cursor deleted or dropped are marked as a text is', async () => {
  const home = makeHome()
  const store = home.global()
  const toolFormerData = { name: 'read_file', status: 'completed', params: '{"path":"a.ts"}', result: '{}' }
  const rows = {
    text: { type: 2, text: 'Some words' },
    tool: { type: 2, text: '', capabilityType: 15, toolFormerData },
    thinking: { type: 2, text: '', capabilityType: 30, thinking: { text: 'Let me see' } },
  }
  const kinds = Object.keys(rows) as (keyof typeof rows)[]
  const ids = kinds.flatMap((kind) => [`kept ${kind}`, `deleted ${kind}`])
  store.chat('marks', { name: 'Marks', fullConversationHeadersOnly: headers(ids) })
  for (const kind of kinds) {
    for (const state of ['kept', 'deleted', 'dropped']) store.message('marks', `${state} ${kind}`, rows[kind])
  }
  const daemon = await start(home)
  await daemon.waitReady()
  for (const kind of kinds) store.delete(`bubbleId:marks:deleted ${kind}`)
  await waitUntil('the losses', async () => {
    await daemon.post('/api/sync')
    return (await daemon.get<{ total: number }>('/api/losses')).total === kinds.length
  })
  const page = await tab(daemon.url)
  await page.goto('/chats/marks')
  await page.getByText('Some words').first().waitFor()
  for (const [state, marks] of [
    ['kept', []],
    ['deleted', ['Cursor deleted this message. cursordex kept it.']],
    ['dropped', ['Cursor no longer shows this message: it was regenerated or rolled back. cursordex kept it.']],
  ] as const) {
    for (const kind of kinds) {
      const message = page.locator(`[data-message="${state} ${kind}"]`)
      expect([state, kind, await message.count()]).toEqual([state, kind, 1])
      const gone = page.locator('.gone', { has: message }).or(message.and(page.locator('.gone')))
      expect([state, kind, await gone.locator('.explain').allTextContents()]).toEqual([state, kind, marks])
      // A step has its mark on its line, before one opens it.
      const tags = kind === 'text' ? [] : marks.map(() => 'deleted in Cursor, kept here')
      expect([state, kind, await message.locator('.tag.kept').allInnerTexts()]).toEqual([state, kind, tags])
    }
  }
})

test('what an agent writes appears in the open chat and in the list, by itself', async () => {
  const home = makeHome()
  const store = home.global()
  store.chat('live', { name: 'Agent at work', fullConversationHeadersOnly: headers(['a']) })
  store.message('live', 'a', { type: 1, text: 'Do it' })
  const daemon = await start(home)
  await daemon.waitReady()
  const page = await tab(daemon.url)
  await page.goto('/chats/live')
  await page.locator('[data-message="a"]').waitFor()
  const list = await tab(daemon.url)
  await list.goto('/')
  await list.getByText('Agent at work').waitFor()
  store.message('live', 'b', { type: 2, text: 'It is done, and **tested**' })
  store.chat('live', { name: 'Agent has worked', fullConversationHeadersOnly: headers(['a', 'b']) })
  await page.locator('[data-message="b"] strong', { hasText: 'tested' }).waitFor()
  await page.getByRole('heading', { name: 'Agent has worked' }).waitFor()
  await list.getByText('Agent has worked').waitFor()
})

const tagsIn = (page: Page) => page.locator('.rows .tag').allTextContents()
const searched = async (page: Page): Promise<void> => {
  await page.goto('/?q=plum')
  await page.locator('[data-hit]').first().waitFor()
}

test('chats of other machines are marked in lists, hits and the chat, and can be filtered', async () => {
  const home = makeHome()
  fillStore(home.global(), { chats: 5, messagesPerChat: 2 })
  const daemon = await start(home)
  await daemon.waitReady()
  const page = await tab(daemon.url, { width: 400 })
  await searched(page)
  expect(await page.locator('.menus .menu > button').allTextContents()).not.toContain('Machine ▾')
  const db = openWriter(mirrorPath(daemon.dataDir))
  giveChat(db, asChatId('chat-1'), { uuid: 'u-1', name: 'laptop', user: 'ada' })
  giveChat(db, asChatId('chat-2'), { uuid: 'u-2', name: 'a-build-server-with-a-long-name.example.com', user: 'grace' })
  db.close()

  await page.goto('/')
  await page.locator('.rows .tag').first().waitFor()
  expect(await tagsIn(page)).toEqual(['a-build-server-with-a-long-name.example.…', 'laptop'])
  expect(await overflow(page)).toBe(0)

  await searched(page)
  expect(await tagsIn(page)).toHaveLength(2)
  await page.getByRole('button', { name: /^Machine/ }).click()
  await page.locator('.choice', { hasText: 'laptop' }).click()
  await page.getByRole('button', { name: 'Remove machine: ada/laptop' }).waitFor()
  await holds(page, `document.querySelectorAll('[data-hit]').length === 1`)
  expect(new URL(page.url()).searchParams.get('machine')).toBe('ada/laptop')

  await page.goto('/chats/chat-1')
  await page.locator('.thread [data-message]').first().waitFor()
  expect(await page.locator('.chat-head .tag').allTextContents()).toEqual(['laptop'])
  expect(await page.locator('.said.user .said-head b').first().textContent()).toBe('ada')
  expect(await axeViolations(page)).toEqual([])
})
