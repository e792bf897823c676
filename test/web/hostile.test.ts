import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { axeViolations, overflow } from './browser.ts'
import { startChats, usePlace } from './place.ts'

const SCRIPT = '<script>window.broken = 1</script>'
const MARKUP = [
  SCRIPT,
  '<img src="https://evil.example/a.png" onerror="window.broken = 2">',
  '<svg onload="window.broken = 3"><script>window.broken = 4</script></svg>',
  '<iframe srcdoc="<script>parent.broken = 5</script>"></iframe>',
  '<style>body { display: none }</style>',
  '<form action="https://evil.example"><button>Send</button></form>',
  '<a href="javascript:window.broken=6">raw</a>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=window.broken=7&gt;">',
  '<link rel="stylesheet" href="https://evil.example/a.css"><base href="https://evil.example/">',
].join('\n\n')
const LINKS = [
  'javascript:window.broken=8',
  'JaVaScRiPt:window.broken=9',
  'data:text/html,<script>1</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:x',
  '//evil.example',
  'https://evil.example/ok',
  'java\tscript:window.broken=10',
]
const MARKDOWN = [
  ...LINKS.map((link, index) => `[link ${index}](<${link}>)`),
  '![picture](https://evil.example/b.png "title")',
  '![picture](data:image/svg+xml,<svg/onload=alert(1)>)',
  '[ref]: javascript:window.broken=11',
  '[ref][ref]',
  '```"><script>window.broken=12</script>\ncode\n```',
  '`<b>code</b>`',
  '| a | b |\n|--|--|\n| <script>window.broken=13</script> | x |',
].join('\n\n')
const CONTROLS = 'before\u202ereversed\u2066inner\u2069\u0000\u0007\u001b[31mred\u200f after'
const texts = [
  MARKUP,
  MARKDOWN,
  CONTROLS,
  'w'.repeat(5000),
  `${'# '.repeat(50)}deep`,
  '>'.repeat(3000),
  '[x]('.repeat(800),
]

const place = usePlace(() =>
  startChats((home) => {
    const store = home.global()
    home.workspace('ws', { folder: 'file:///home/ada/%3Cscript%3Ebroken%3C%2Fscript%3E' }, ['hostile'])
    const ids = texts.flatMap((_, index) => [`u${index}`, `a${index}`])
    store.chat('hostile', { name: `${SCRIPT}${'T'.repeat(10_000)}`, fullConversationHeadersOnly: headers(ids) })
    texts.forEach((text, index) => {
      store.message('hostile', `u${index}`, { type: 1, text })
      store.message('hostile', `a${index}`, {
        type: 2,
        text,
        thinking: { text },
        toolFormerData: {
          name: `run_terminal_cmd${SCRIPT}`,
          status: 'completed',
          params: JSON.stringify({ command: text }),
          result: JSON.stringify({ output: text }),
        },
      })
    })
  }),
)

const isBroken = (page: Page) => page.evaluate<unknown>('window.broken')

test.each([
  ['light', 360],
  ['dark', 1200],
] as const)('a hostile chat runs nothing, loads nothing and breaks no layout: %s, %i pixels', async (theme, width) => {
  const page = await place.tab({ theme, width })
  for (const path of ['/', '/?q=broken', '/?q=window', '/chats/hostile?q=broken', '/stats', '/tokens', '/projects/x']) {
    await page.goto(path)
    await page.waitForTimeout(400)
    expect([path, await overflow(page)]).toEqual([path, 0])
  }
  await page.goto('/chats/hostile')
  await page.locator('.thread [data-message]').first().waitFor()
  await page.getByRole('button', { name: 'Expand all' }).click()
  const plain = new Set<string>()
  const hrefs: (string | null)[] = []
  let markup = 0
  // Each message comes into view once: only what is near is in the document.
  for (let isAtEnd = false; !isAtEnd;) {
    await page.waitForTimeout(60)
    const shown = await page
      .locator('.prose.unrendered')
      .evaluateAll((all) => all.map((one) => (one.textContent ?? '').slice(0, 40)))
    for (const text of shown) plain.add(text)
    const bad = 'main :is(script, img, svg:not(.icon), iframe, style, form, link, base, object, embed)'
    expect(await page.locator(bad).count()).toBe(0)
    hrefs.push(
      ...(await page.locator('.prose a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))),
    )
    markup += await page.locator('.prose', { hasText: 'onerror' }).count()
    expect(await page.locator('main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    isAtEnd = await page.evaluate<boolean>(`(() => {
      const before = scrollY
      scrollBy({ top: 700, behavior: 'instant' })
      return scrollY === before
    })()`)
  }
  // The prompts; one of them is also an answer of nested quotes that no parser gets through.
  expect(plain.size).toBe(texts.length)
  expect(hrefs.filter((href) => href !== null && !/^(https?:|mailto:|cursor:)/.test(href))).toEqual([])
  expect(hrefs).toContain('https://evil.example/ok')
  expect(markup).toBeGreaterThan(0)
  expect([await isBroken(page), await overflow(page)]).toEqual([undefined, 0])
  expect(await axeViolations(page)).toEqual([])
})
