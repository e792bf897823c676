import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { getJson } from '../helpers/spawn-cursordex.ts'
import { axeViolations, overflow } from './browser.ts'
import { startChats, startDemo, usePlace, useTabs } from './place.ts'

interface List {
  readonly items: readonly { readonly id: string; readonly messageCount: number }[]
}

const openTab = useTabs()
const demo = usePlace(async () => {
  const started = await startDemo()
  const headers = { 'content-type': 'application/json' }
  await getJson(started.url, '/api/archives', { method: 'POST', headers, body: '{}' })
  return started
}, openTab)
const eras = usePlace(
  () => startChats((home) => writeAllEras(home, join(home.root, '.cursor')), { hasCursorHome: true }),
  openTab,
)
const places = { demo, eras }

/** Every screen, and what shows that it is there. */
async function screensOf(url: string): Promise<readonly (readonly [path: string, ready: string])[]> {
  const ask = (path: string): Promise<List> => getJson<List>(url, path)
  const chats = (await ask('/api/chats?limit=200&sort=messages')).items
  const project = (await ask('/api/projects')).items[0]
  return [
    ['/', '.chat-list > li, .notice'],
    ['/?q=user', '.found .hit, .notice'],
    ['/?q=why+did+the+name+of+a+user+break+the+build', '.found .hit, .notice'],
    ['/?q=qqzzxxvv', '.notice'],
    ...chats
      .slice(0, 3)
      .map(({ id }) => [`/chats/${encodeURIComponent(id)}?q=user`, '.thread [data-message]'] as const),
    ...(project === undefined ? [] : [[`/projects/${project.id}`, '.figures, .notice'] as const]),
    ['/stats', '.figures, .notice'],
    ['/tokens', '.figures, .notice'],
    ['/losses', 'table, .notice'],
    ['/archives', '.card, .notice'],
    ['/status', '.figures'],
  ]
}

test.each([
  ['demo', 'light', 360],
  ['demo', 'dark', 1200],
  ['eras', 'light', 1200],
  ['eras', 'dark', 360],
] as const)(
  'axe finds nothing, nothing is against the policy, and every screen fits: %s, %s, %i pixels',
  async (which, theme, width) => {
    const page = await places[which].tab({ theme, width })
    const wrong: string[] = []
    for (const [path, ready] of await screensOf(places[which].server().url)) {
      await page.goto(path)
      await page.locator(ready).first().waitFor()
      // Every fold is open, so that its content is looked at too.
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      await page.waitForTimeout(250)
      wrong.push(...(await axeViolations(page)).map((each) => `${path} ${each}`))
      for (const each of [320, 360, 768, 1200, 2560]) {
        await page.setViewportSize({ width: each, height: 800 })
        const wider = await overflow(page)
        if (wider > 0) wrong.push(`${path} is ${wider} pixels wider than a window of ${each} pixels`)
      }
      await page.setViewportSize({ width, height: 800 })
    }
    expect(wrong).toEqual([])
  },
)

test('every chat of all eras opens without a fault', async () => {
  const { items } = await eras.get<List>('/api/chats?limit=200&includeEmpty=true&subagents=true')
  expect(items.length).toBeGreaterThan(10)
  const page = await eras.tab()
  for (const { id, messageCount } of items) {
    await page.goto(`/chats/${encodeURIComponent(id)}`)
    await page
      .locator(messageCount === 0 ? '.thread' : '.thread [data-message], .thread .notice')
      .first()
      .waitFor()
  }
})
