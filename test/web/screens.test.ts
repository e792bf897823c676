import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { axeViolations, openBrowser, overflow, visit } from './browser.ts'
import { Demo } from './demo.ts'

interface List {
  readonly items: readonly { readonly id: string; readonly messageCount: number }[]
}

let browser: Browser
let demo: Demo
let home: CursorHome
let eras: RunningDaemon

beforeAll(async () => {
  browser = await openBrowser()
  demo = await Demo.start()
  await fetch(`${demo.url}/api/archives`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  home = new CursorHome()
  const cursorHome = `${home.root}/.cursor`
  writeAllEras(home, cursorHome)
  home.close()
  eras = await RunningDaemon.start({ userDirs: [home.userDir], flags: ['--cursor-home', cursorHome] })
})
afterAll(async () => {
  await browser?.close()
  await demo?.stop()
  await eras?.stop()
  home?.remove()
})

/** Every screen, and what shows that it is there. */
async function screensOf(url: string): Promise<readonly (readonly [path: string, ready: string])[]> {
  const ask = async (path: string): Promise<List> => (await (await fetch(`${url}${path}`)).json()) as List
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

describe.each(['demo', 'eras'] as const)('%s', (which) => {
  test.each([
    ['light', 360],
    ['light', 1200],
    ['dark', 360],
    ['dark', 1200],
  ] as const)('axe finds nothing, and nothing is against the policy: %s, %i pixels', async (theme, width) => {
    const { url } = which === 'demo' ? demo : eras
    const { page, context, faults } = await visit(browser, url, { theme, width })
    const wrong: string[] = []
    for (const [path, ready] of await screensOf(url)) {
      await page.goto(path)
      await page.locator(ready).first().waitFor()
      // Every fold is open, so that its content is looked at too.
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      await page.waitForTimeout(250)
      wrong.push(...(await axeViolations(page)).map((each) => `${path} ${each}`))
      const wider = await overflow(page)
      if (wider > 0) wrong.push(`${path} is ${wider} pixels wider than its window`)
    }
    await context.close()
    expect([...wrong, ...faults]).toEqual([])
  })
})

test.each([320, 768, 2560])('no screen is wider than a window of %i pixels', async (width) => {
  const { page, context } = await visit(browser, demo.url, { width })
  for (const [path, ready] of await screensOf(demo.url)) {
    await page.goto(path)
    await page.locator(ready).first().waitFor()
    expect([path, await overflow(page)]).toEqual([path, 0])
  }
  await context.close()
})

test('every chat of all eras opens without a fault', async () => {
  const { items } = await eras.get<List>('/api/chats?limit=200&includeEmpty=true&subagents=true')
  expect(items.length).toBeGreaterThan(10)
  const { page, context, faults } = await visit(browser, eras.url)
  for (const { id, messageCount } of items) {
    await page.goto(`/chats/${encodeURIComponent(id)}`)
    await page
      .locator(messageCount === 0 ? '.thread' : '.thread [data-message], .thread .notice')
      .first()
      .waitFor()
  }
  await context.close()
  expect(faults).toEqual([])
})
