import type { openBrowser } from '../test/web/browser.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>
type Page = Awaited<ReturnType<Browser['newPage']>>

/**
 * Runs in the page before its own scripts. Text, because the types of Node know no document.
 *
 * An answer counts as shown after a frame in which the document has its hits, and not when the answer arrives. Times
 * start at the event of the key or the click itself, so they do not contain the messages of the debugging protocol.
 */
const PROBE = `
const shown = { results: null, facets: null }
const waiting = new Set()
let pressedAtMs = 0
for (const type of ['keydown', 'click']) {
  addEventListener(type, (event) => { pressedAtMs = event.timeStamp }, true)
}
const answers = { results: 0, facets: 0 }
/** Calls back after the first painted frame in which the check holds. */
const whenPainted = (check, done, isStale = () => false) => requestAnimationFrame(() => {
  if (isStale()) return
  if (!check()) return whenPainted(check, done, isStale)
  const channel = new MessageChannel()
  channel.port1.onmessage = () => done(performance.now())
  channel.port2.postMessage(null)
})
const isShown = {
  results: ({ items }) => {
    const hits = [...document.querySelectorAll('.found[aria-busy=false] > .hits > .hit h2 a')]
    if (document.querySelector('.found .summary') === null || hits.length !== items.length) return false
    return hits.every((hit, index) => hit.getAttribute('href').includes('/' + encodeURIComponent(items[index].chat.id)))
  },
  facets: ({ facets }) => document.querySelector('.facet-wait') === null &&
    document.querySelectorAll('.facet li').length === Object.values(facets).flat().length,
}
const note = (kind, path, atMs) => {
  shown[kind] = { path, ms: atMs - pressedAtMs }
  for (const look of waiting) look()
}
const read = Response.prototype.json
Response.prototype.json = async function () {
  const answer = await read.call(this)
  const { pathname, search } = new URL(this.url)
  if (pathname === '/api/search') {
    const kind = search.includes('facets=') ? 'facets' : 'results'
    const own = ++answers[kind]
    const done = (atMs) => note(kind, pathname + search, atMs)
    whenPainted(() => isShown[kind](answer), done, () => own !== answers[kind])
  }
  return answer
}
window.bench = {
  /** What was shown last of a kind, once it answers this question. */
  until: (kind, q) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('the ' + kind + ' of ' + q + ' were not shown')), 30_000)
    const look = () => {
      const path = shown[kind]?.path
      if (path === undefined || new URLSearchParams(path.split('?')[1]).get('q').replace(/[*]$/, '') !== q) return
      waiting.delete(look)
      resolve(shown[kind])
    }
    waiting.add(look)
    look()
  }),
  /** Milliseconds until a message is in the window, and all Markdown in the window is rendered. */
  untilOpen: (id, isFromClick) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('message ' + id + ' was not shown')), 30_000)
    const inWindow = (element) => {
      const box = element.getBoundingClientRect()
      return box.bottom >= 0 && box.top < innerHeight
    }
    // Empty before its first effect.
    const isRaw = (prose) => prose.classList.contains('unrendered') || prose.firstChild === null
    const isOpen = () => {
      const message = document.querySelector('[data-message="' + id + '"]')
      return message !== null && inWindow(message) &&
        ![...document.querySelectorAll('.agent .prose')].some((prose) => isRaw(prose) && inWindow(prose))
    }
    whenPainted(isOpen, (atMs) => resolve(isFromClick ? atMs - pressedAtMs : atMs))
  }),
  firstPaint: () => new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const entry of list.getEntriesByName('first-contentful-paint')) resolve(entry.startTime)
    }).observe({ type: 'paint', buffered: true })
  }),
}
`

export interface Shown {
  /** The request whose answer is shown. */
  readonly path: string
  /** Since the last key. */
  readonly ms: number
}

/** A tab of a browser without a cache, with the probe in it. */
export class ProbedPage {
  readonly page: Page
  readonly #scriptSizes: Promise<number>[] = []

  private constructor(page: Page) {
    this.page = page
    page.on('response', (response) => {
      if (!response.url().endsWith('.js')) return
      this.#scriptSizes.push(
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      )
    })
  }

  static async open(browser: Browser, baseURL: string): Promise<ProbedPage> {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, baseURL })
    const page = await context.newPage()
    await page.addInitScript(`{${PROBE}}`)
    return new ProbedPage(page)
  }

  /** Compressed bytes of all scripts so far. */
  async scriptBytes(): Promise<number> {
    return (await Promise.all(this.#scriptSizes)).reduce((sum, size) => sum + size, 0)
  }

  /** Milliseconds from the start of the navigation to the first text or image. */
  firstPaint(): Promise<number> {
    return this.page.evaluate<number>('bench.firstPaint()')
  }

  /** Waits until the answer to this question is on the screen. */
  until(kind: 'results' | 'facets', q: string): Promise<Shown> {
    return this.page.evaluate<Shown>(`bench.until('${kind}', ${JSON.stringify(q)})`)
  }

  /** Milliseconds from the start of the navigation, or from the last click, until a message can be read. */
  untilOpen(messageId: string, isFromClick: boolean): Promise<number> {
    return this.page.evaluate<number>(`bench.untilOpen(${JSON.stringify(messageId)}, ${isFromClick})`)
  }

  async close(): Promise<void> {
    await this.page.context().close()
  }
}
