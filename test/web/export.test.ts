import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shown } from '../api/export/hostile-chat.ts'
import { headers } from '../helpers/cursor.ts'
import { Workplace } from '../helpers/spawn-cursordex.ts'
import { openBrowser } from './browser.ts'

/** Put together by the script alone: it stands in no text. */
const MARK = 'SCRIPTRAN'
const mark = `document.documentElement.dataset.mark='SCRIPT'+'RAN'`
const BAIT = 'http://bait.example'

/** Markup that runs or loads something in a browser that takes it for markup. */
const texts: readonly string[] = [
  `<script>${mark}</script>`,
  `<script src="${BAIT}/script.js"></script>`,
  `<img src="${BAIT}/img" onerror="${mark}">`,
  `<img src=x onerror="${mark}">`,
  `"><svg onload="${mark}"><image href="${BAIT}/svg" /></svg>`,
  `' autofocus onfocus='${mark}' x='`,
  `</title></style></textarea></pre></details></article><script>${mark}</script>`,
  `--><script>${mark}</script><!--`,
  `<link rel="stylesheet" href="${BAIT}/css"><style>@import "${BAIT}/import"; body { background: url(${BAIT}/bg) }</style>`,
  `<iframe src="${BAIT}/frame"></iframe><iframe srcdoc="&lt;script&gt;parent.${mark}&lt;/script&gt;"></iframe>`,
  `<object data="${BAIT}/object"></object><embed src="${BAIT}/embed"><video src="${BAIT}/video" poster="${BAIT}/poster"></video>`,
  `<link rel="preload" as="image" href="${BAIT}/preload"><link rel="prefetch" href="${BAIT}/prefetch"><link rel="preconnect" href="${BAIT}">`,
  `<meta http-equiv="refresh" content="0; url=${BAIT}/refresh">`,
  `<base href="${BAIT}/"><form action="${BAIT}/form" id=f></form><script>document.forms.f.submit()</script>`,
  `<body onload="${mark}" background="${BAIT}/body">`,
  `\u0000<scr\u0000ipt>${mark}</script>\u0008\u001b[2J\u009b2J`,
  `\u202e<script>${mark}</script>\u202c\u2066${BAIT}/bidi\u2069`,
  `[click](javascript:${mark}) ![picture](${BAIT}/markdown.png)`,
  `&lt;script&gt;${mark}&lt;/script&gt; &#60;script&#62;`,
  '```html\n<script>' + mark + '</script>\n```\n~~~',
  `half a letter: \ud83d <script>${mark}</script> \ude00`,
]

/** Those that work side by side: the others close or hide what follows them, or lead away from the page. */
const loading = [...texts.slice(0, 5), ...texts.slice(8, 12)].join('\n')

const place = new Workplace()
let browser: Browser
let html = ''

beforeAll(async () => {
  browser = await openBrowser()
  const store = place.cursor.global()
  const ids = texts.map((_, index) => `m-${index}-"><script>${mark}</script>`)
  const name = texts.join('\n')
  store.chat('hostile', { name, createdAt: Date.UTC(2026, 0, 5), fullConversationHeadersOnly: headers(ids) })
  for (const [index, text] of texts.entries()) store.message('hostile', ids[index] ?? '', rowOf(text, index))
  const exported = await place.run(['export', 'hostile', '--as', 'html'])
  expect(exported).toMatchObject({ exitCode: 0 })
  html = exported.stdout
})
afterAll(async () => {
  await browser?.close()
  await place.remove()
})

/** Opens a page in a browser that has never been anywhere: what becomes of it, and what it asks for. */
async function open(page: string, colorScheme: 'light' | 'dark' = 'light') {
  const file = join(place.root, 'page.html')
  writeFileSync(file, page)
  const context = await browser.newContext({ colorScheme })
  const asked: string[] = []
  await context.route(`${BAIT}/**`, (route) => {
    asked.push(new URL(route.request().url()).pathname)
    return route.fulfill({ body: 'caught' })
  })
  const tab = await context.newPage()
  await tab.goto(pathToFileURL(file).href)
  await tab.waitForTimeout(500)
  const picture = (await tab.screenshot()).toString('base64')
  const opened = { asked, picture, dom: await tab.content(), text: (await tab.textContent('body')) ?? '' }
  await context.close()
  return opened
}

const plain = (body: string): string => `<!doctype html><meta charset="utf-8"><body>${body}`

test('the bait works: as plain markup the same texts run their script and load from afar', async () => {
  for (const text of [texts[0], texts[3]]) expect((await open(plain(text ?? ''))).dom).toContain(MARK)
  const { asked } = await open(plain(loading))
  expect(asked).toEqual(expect.arrayContaining(['/script.js', '/img', '/css', '/frame']))
})

test('of an exported chat no script runs, no request is made, and every text is there to be read', async () => {
  const { dom, asked, text } = await open(html)
  expect(dom).toContain('<main>')
  expect(dom).not.toContain(MARK)
  expect(asked).toEqual([])
  const letters = (some: string) => some.replace(/\s+/gu, ' ').trim()
  // Halves of letters are no letters to the mirror already.
  const seen = letters(text)
  expect(texts.filter((each) => seen.split(letters(shown(each.toWellFormed()))).length < 4)).toEqual([])
})

test('the tree in the browser holds nothing but what the page is made of', async () => {
  const { dom } = await open(html)
  const tags = new Set([...dom.matchAll(/<([a-z][\w-]*)/gu)].map(([, name]) => name))
  for (const name of ['script', 'img', 'svg', 'iframe', 'object', 'embed', 'video', 'link', 'base', 'form']) {
    expect(tags).not.toContain(name)
  }
  expect(dom).not.toMatch(/<[^>]*\son\w+=/u)
  expect(dom.match(/<article /gu)).toHaveLength(texts.length)
})

test('its policy alone would stop what the escaping let through', async () => {
  const { dom, asked } = await open(html.replace('<main>', `<main>${loading}`))
  expect(dom).toContain('/script.js"></script>')
  expect(dom).not.toContain(MARK)
  expect(asked).toEqual([])
})

test('its style is let in: the page is painted, light and dark', async () => {
  const unstyled = html.replace(/<style>[^<]*<\/style>/u, '<style>*{color:red}</style>')
  const pictures = [await open(html), await open(html, 'dark'), await open(unstyled, 'dark')]
  expect(new Set(pictures.map(({ picture }) => picture)).size).toBe(3)
})

/** A message that holds the text in all its places. */
function rowOf(text: string, index: number): Record<string, unknown> {
  return {
    type: (index % 2) + 1,
    text,
    thinking: { text, signature: 'x' },
    createdAt: new Date(Date.UTC(2026, 0, 5) + index * 1000).toISOString(),
    modelInfo: { modelName: text },
    toolFormerData: {
      tool: 5,
      name: text,
      status: 'completed',
      toolCallId: text,
      rawArgs: JSON.stringify({ [text]: text }),
      result: JSON.stringify({ contents: text }),
    },
    codeBlocks: [{ uri: { path: text }, languageId: text, content: text }],
    todos: [JSON.stringify({ id: text, content: text, status: 'pending' })],
    errorDetails: { message: text },
  }
}
