import { loadavg } from 'node:os'
import { chromium, type Browser, type Page } from 'playwright-core'
import { LIVE_CHAT } from './live-writer.ts'
import { makeTool } from './make-store.ts'
import { createRandom, createWriter } from './words.ts'
import { median, short, table, type Workshop } from './workshop.ts'

const MESSAGES = 5000
const EMPTY = 'data:text/html,<!doctype html><title>Empty</title><p>Empty'
/** A tenth of the rows is enough: the page shows one chat. */
const SHARE = 0.1

/**
 * Runs in the page before its own scripts. Text, because the types of Node know no document. A time starts with the
 * navigation and ends with the frame that shows the answer, and for a chat when all Markdown in the window is rendered.
 */
const PROBE = `
const whenPainted = (check, done) => requestAnimationFrame(() => {
  if (!check()) return whenPainted(check, done)
  const channel = new MessageChannel()
  channel.port1.onmessage = () => done(performance.now())
  channel.port2.postMessage(null)
})
const inWindow = (element) => {
  const box = element.getBoundingClientRect()
  return box.bottom >= 0 && box.top < innerHeight
}
// Empty before its first effect.
const isRaw = (prose) => prose.classList.contains('unrendered') || prose.firstChild === null
window.bench = {
  untilOpen: (id) => new Promise((resolve) => whenPainted(() => {
    const message = document.querySelector('[data-message="' + id + '"]')
    return message !== null && inWindow(message) &&
      ![...document.querySelectorAll('.agent .prose')].some((prose) => isRaw(prose) && inWindow(prose))
  }, resolve)),
  firstPaint: () => new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntriesByName('first-contentful-paint')) resolve(entry.startTime)
    }).observe({ type: 'paint', buffered: true })
  }),
}
`

/** What a person waits for in the page: the first paint, and a chat of 5,000 messages. */
export async function page(shop: Workshop): Promise<void> {
  const store = shop.store(SHARE)
  const { ids } = shop.startWriter(store, MESSAGES, contents())
  const { url } = await shop.startReady(store)
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const chat = `${url}/chats/${LIVE_CHAT}`
  const [first, middle] = [ids[0] ?? '', ids[MESSAGES / 2] ?? '']
  const acts: readonly (readonly [string, (tab: Page) => Promise<number>])[] = [
    ['floor: first paint of an empty page, ms', (tab) => firstPaint(tab, EMPTY)],
    ['first paint, ms', (tab) => firstPaint(tab, url)],
    [`a chat of ${MESSAGES} messages, by its address, ms`, (tab) => open(tab, chat, first)],
    ['the same, at its middle message, ms', (tab) => open(tab, `${chat}#${middle}`, middle)],
  ]
  try {
    const times = acts.map(() => new Array<number>())
    // The first turn does not count.
    for (let turn = 0; turn <= shop.runs; turn += 1) {
      for (const [index, [, act]] of acts.entries()) {
        const figure = await inNewTab(browser, act)
        if (turn > 0) times[index]?.push(figure)
      }
    }
    const rows = acts.map(([name], index) => {
      const each = times[index] ?? []
      return [name, short(median(each)), each.map(short).join(', ')]
    })
    shop.say(table(['the page', 'median', 'runs'], rows))
    shop.say(`Chromium ${browser.version()}, load of the machine ${short(loadavg()[0] ?? 0)}`)
  } finally {
    await browser.close()
  }
}

/** Each in a browser without a cache. */
async function inNewTab(browser: Browser, act: (tab: Page) => Promise<number>): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } })
  const tab = await context.newPage()
  await tab.addInitScript(`{${PROBE}}`)
  const figure = await act(tab)
  await context.close()
  return figure
}

async function firstPaint(tab: Page, url: string): Promise<number> {
  await tab.goto(url)
  return tab.evaluate<number>('bench.firstPaint()')
}

async function open(tab: Page, url: string, messageId: string): Promise<number> {
  await tab.goto(url, { waitUntil: 'commit' })
  return tab.evaluate<number>(`bench.untilOpen('${messageId}')`)
}

/** Prompts, answers in Markdown and calls of a tool, as long as in the other chats. */
function contents(): (index: number) => object {
  const { text } = createWriter(createRandom(1))
  const list = (): string => `- **${text(10)}**: ${text(90)}\n`.repeat(4)
  const code = (): string => `const ${text(5).replaceAll(' ', '_')} = 1\n`.repeat(12)
  return (index) => {
    if (index % 5 === 0) return { type: 1, text: text(400) }
    if (index % 2 === 1) return { text: '', toolFormerData: makeTool(text, 3000) }
    return { text: `## ${text(30)}\n\n${text(700)}\n\n${list()}\n\`\`\`ts\n${code()}\`\`\`\n\n${text(400)}` }
  }
}
