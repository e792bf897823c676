import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { headers, type Store } from '../helpers/cursor.ts'
import { fillStore, wordOf } from '../helpers/fill-store.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { holds } from './browser.ts'
import { startChats, usePlace } from './place.ts'

const MESSAGES = 5000

const place = usePlace(() =>
  startChats((home) => {
    const store = home.global()
    fillStore(store, { chats: 1, messagesPerChat: MESSAGES, textLength: 400 })
    store.db.transaction(() => {
      writeMessages(store, 'varied', MESSAGES, variedMessage)
      writeMessages(store, 'hits', 500, (index) => ({ type: 2, text: `pear ${index}` }))
      writeMessages(store, 'edit', 1, () => editCall(3000))
    })()
  }),
)

type Fields = Record<string, unknown>

/** Messages `<chat>-<index>` of a chat. */
function writeMessages(store: Store, chatId: string, count: number, messageOf: (index: number) => Fields): void {
  const ids = Array.from({ length: count }, (_, index) => `${chatId}-${index}`)
  for (const [index, id] of ids.entries()) {
    store.message(chatId, id, { createdAt: new Date(FIRST_AT_MS + index * 1000).toISOString(), ...messageOf(index) })
  }
  store.chat(chatId, { name: `Chat ${chatId}`, createdAt: FIRST_AT_MS, fullConversationHeadersOnly: headers(ids) })
}

const FIRST_AT_MS = Date.UTC(2026, 1, 1)

const toolCall = (name: string, params: unknown, result: unknown): Fields => ({
  type: 2,
  text: '',
  capabilityType: 15,
  toolFormerData: { name, status: 'completed', params: JSON.stringify(params), result: JSON.stringify(result) },
})

/** Rows of all heights. Runs of calls lie across the places where the page cuts the chat, every 200 messages. */
function variedMessage(index: number): Fields {
  const step = (index + 3) % 10
  if (step === 0) return { type: 1, text: `Prompt ${index}. ${'Please do this. '.repeat((index * 7) % 60)}` }
  if (step < 6) return toolCall('run_terminal_cmd', { command: `npm test ${index}` }, { output: 'ok' })
  const list = '- item `x`\n'.repeat(index % 13)
  const code = index % 3 === 0 ? `\n\`\`\`ts\n${'const a: number = 1\n'.repeat((index * 3) % 20)}\`\`\`\n` : ''
  return { type: 2, text: `# Answer ${index}\n\nSome **words**.\n\n${list}${code}` }
}

function editCall(lines: number): Fields {
  const all = (word: string): string => Array.from({ length: lines }, (_, index) => `${word} ${index}`).join('\n')
  return toolCall('search_replace', { old_string: all('old'), new_string: all('new') }, {})
}

test('a chat of 5,000 messages opens at its first, at its last, and in the middle', async () => {
  const page = await place.tab()
  for (const [path, message] of [
    ['/chats/chat-0', 'm0-0'],
    ['/chats/chat-0#m0-2500', 'm0-2500'],
    [`/chats/chat-0?q=${wordOf(0, 4999)}`, 'm0-4999'],
  ] as const) {
    await page.goto(path)
    await page.locator(`[data-message="${message}"]`).waitFor()
  }
  expect(await page.locator('[data-message]').count()).toBeLessThanOrEqual(400)
})

test('later messages are loaded as one scrolls, in their order and once each', async () => {
  const page = await place.tab()
  await page.goto('/chats/chat-0')
  await page.locator('[data-message="m0-0"]').waitFor()
  for (const last of [199, 399]) {
    await page.locator(`[data-message="m0-${last}"]`).scrollIntoViewIfNeeded()
    await page.locator(`[data-message="m0-${last + 1}"]`).waitFor()
  }
  const ids = await page
    .locator('[data-message]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-message')))
  expect(ids).toEqual(ids.map((_, index) => `m0-${index}`))
})

/** How far from the top of the window a message is shown. */
const topOf = (page: Page, message: string): Promise<number> =>
  page.evaluate<number>(`document.querySelector('[data-message="${message}"]').getBoundingClientRect().top`)

/** Waits until nothing has moved for a while. */
async function rests(page: Page): Promise<void> {
  let last = Number.NaN
  await waitUntil('a page that rests', async () => {
    const now = await page.evaluate<number>('scrollY')
    const isSame = now === last
    last = now
    await page.waitForTimeout(300)
    return isSame
  })
}

const messageShown = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `[...document.querySelectorAll('.thread .said')].find((row) => row.getBoundingClientRect().bottom > 60).dataset.message`,
  )

describe.each([
  ['chat-0', 'm0'],
  ['varied', 'varied'],
])('reading in the middle of %s, of 5,000 messages', (chat, name) => {
  test('one press of Home goes to the top of what is loaded, and stays there when earlier messages come', async () => {
    const page = await place.tab()
    await page.goto(`/chats/${chat}#${name}-2500`)
    await page.locator(`[data-message="${name}-2500"]`).waitFor()
    await rests(page)
    let release: (() => void) | undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(/\/messages\?/, async (route) => {
      await released
      await route.continue()
    })
    await page.keyboard.press('Home')
    await holds(page, 'scrollY === 0')
    await page.getByText('Loading…').first().waitFor()
    await page.evaluate(`for (const run of document.querySelectorAll('details.run')) run.open = true`)
    const runs = await page.locator('details.run[open]').count()
    const first = await messageShown(page)
    const top = await topOf(page, first)
    release?.()
    await page.getByText('2,200 earlier messages').waitFor()
    await rests(page)
    expect(Math.abs((await topOf(page, first)) - top)).toBeLessThan(3)
    // The first run goes on above, but what the reader opened stays open.
    expect(await page.locator('details.run[open]').count()).toBe(runs)
  })

  test.each([
    ['up', -1],
    ['down', 1],
  ] as const)('ticks of the wheel move %s by their own length, past what is loaded', async (_, sign) => {
    const page = await place.tab()
    await page.goto(`/chats/${chat}#${name}-2500`)
    await page.locator(`[data-message="${name}-2500"]`).waitFor()
    await rests(page)
    await page.locator(`[data-message="${name}-${sign === -1 ? 2417 : 2587}"]`).scrollIntoViewIfNeeded()
    await rests(page)
    const first = await messageShown(page)
    const top = await topOf(page, first)
    await page.mouse.move(500, 400)
    for (let tick = 0; tick < 20; tick += 1) {
      await page.mouse.wheel(0, sign * 300)
      await page.waitForTimeout(50)
    }
    await rests(page)
    await page.getByText(`2,200 ${sign === -1 ? 'earlier' : 'later'} messages`).waitFor()
    const moved = top - (await topOf(page, first))
    // While what is above arrives, the browser may drop a part of one tick.
    expect(Math.abs(moved - sign * 20 * 300)).toBeLessThan(300)
  })
})

test('a message that comes while one reads does not move what one reads', async () => {
  const page = await place.tab()
  const store = place.server().home.global()
  await page.goto('/chats/hits#hits-470')
  await page.locator('[data-message="hits-470"]').waitFor()
  await rests(page)
  const top = await topOf(page, 'hits-470')
  writeMessages(store, 'hits', 501, (index) => ({ type: 2, text: index < 500 ? `pear ${index}` : 'It is new' }))
  await page.locator('[data-message="hits-500"]').waitFor({ state: 'attached' })
  await rests(page)
  expect(await topOf(page, 'hits-470')).toBe(top)
})

test.each([
  ['hits', 'pear', 'Hit 1 of 500'],
  ['chat-0', 'plum', 'Hit 1 of at least 1,000'],
])('the hits in %s are counted whole, or as at least so many', async (chat, word, said) => {
  const page = await place.tab()
  await page.goto(`/chats/${chat}?q=${word}`)
  await page.getByText(/^Hit 1 of/).waitFor()
  expect(await page.getByText(/^Hit 1 of/).innerText()).toBe(said)
  await page.keyboard.press('p')
  await page.getByText(said.replace(/^Hit 1 of (?:at least )?(.*)$/, 'Hit $1 of')).waitFor()
})

test('an edit of 3,000 lines to 3,000 others shows what was added, and all of it on a press', async () => {
  const page = await place.tab()
  await page.goto('/chats/edit')
  await page.locator('[data-message="edit-0"] > summary').click()
  await page.locator('.diff .added').first().waitFor()
  expect(await page.locator('.diff .removed').first().innerText()).toBe('-old 0\n')
  expect(await page.locator('.diff .added').first().innerText()).toBe('+new 0\n')
  expect(await page.locator('.diff').innerText()).toContain('⋯ 2,900 more lines')
  await page.getByRole('button', { name: 'Show all 6,000 lines' }).click()
  await page.locator('.diff .added').nth(2999).waitFor()
  expect(await page.locator('.diff .added').last().innerText()).toBe('+new 2999\n')
  expect(await page.locator('.diff .removed').count()).toBe(3000)
})

test('a filter whose hits are counted to 1,000 only says "at least"', async () => {
  const page = await place.tab()
  await page.goto('/?q=plum')
  const counts = page.locator('.facet', { hasText: 'Found in' }).locator('.facet-count')
  await counts.first().waitFor()
  expect(await counts.first().innerText()).toBe('at least 1,000')
  const roles = page.locator('.facet', { hasText: 'Said by' }).locator('.facet-count')
  expect(await roles.allInnerTexts()).toEqual(['2,500', '2,500'])
})
