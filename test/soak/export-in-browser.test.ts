import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shown, unescaped } from '../api/export/hostile-chat.ts'
import { headers } from '../helpers/cursor.ts'
import { Workplace } from '../helpers/spawn-cursordex.ts'
import { openInBrowser, setBait } from './browser.ts'
import type { Bait } from './browser.ts'

/** Put together by the script alone: it stands in no text. */
const MARK = 'SCRIPTRAN'
const mark = `document.documentElement.dataset.mark='SCRIPT'+'RAN'`

/** Markup that runs or loads something in a browser that takes it for markup. */
const lures = (base: string): readonly string[] => [
  `<script>${mark}</script>`,
  `<script src="${base}/script.js"></script>`,
  `<img src="${base}/img" onerror="${mark}">`,
  `<img src=x onerror="${mark}">`,
  `"><svg onload="${mark}"><image href="${base}/svg" /></svg>`,
  `' autofocus onfocus='${mark}' x='`,
  `</title></style></textarea></pre></details></article><script>${mark}</script>`,
  `--><script>${mark}</script><!--`,
  `<link rel="stylesheet" href="${base}/css"><style>@import "${base}/import"; body { background: url(${base}/bg) }</style>`,
  `<iframe src="${base}/frame"></iframe><iframe srcdoc="&lt;script&gt;parent.${mark}&lt;/script&gt;"></iframe>`,
  `<object data="${base}/object"></object><embed src="${base}/embed"><video src="${base}/video" poster="${base}/poster"></video>`,
  `<link rel="preload" as="image" href="${base}/preload"><link rel="prefetch" href="${base}/prefetch"><link rel="preconnect" href="${base}">`,
  `<meta http-equiv="refresh" content="0; url=${base}/refresh">`,
  `<base href="${base}/"><form action="${base}/form" id=f></form><script>document.forms.f.submit()</script>`,
  `<body onload="${mark}" background="${base}/body">`,
  `\u0000<scr\u0000ipt>${mark}</script>\u0008\u001b[2J\u009b2J`,
  `\u202e<script>${mark}</script>\u202c\u2066${base}/bidi\u2069`,
  `[click](javascript:${mark}) ![picture](${base}/markdown.png)`,
  `&lt;script&gt;${mark}&lt;/script&gt; &#60;script&#62;`,
  '```html\n<script>' + mark + '</script>\n```\n~~~',
  `half a letter: \ud83d <script>${mark}</script> \ude00`,
]

describe('the page of a hostile chat, in a real browser', () => {
  const place = new Workplace()
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-export-'))
  const file = join(folder, 'hostile.html')
  let bait: Bait
  let texts: readonly string[] = []
  let html = ''

  beforeAll(async () => {
    bait = await setBait()
    texts = lures(`http://127.0.0.1:${bait.port}`)
    const store = place.cursor.global()
    const ids = texts.map((_, index) => `m-${index}-"><script>${mark}</script>`)
    const all = texts.join('\n')
    store.chat('hostile', { name: all, createdAt: Date.UTC(2026, 0, 5), fullConversationHeadersOnly: headers(ids) })
    for (const [index, text] of texts.entries()) store.message('hostile', ids[index] ?? '', rowOf(text, index))
    const { exitCode, stderr } = await place.run(['export', 'hostile', '--as', 'html', '--output', file])
    if (exitCode !== 0) throw new Error(`The export failed: ${stderr}`)
    html = readFileSync(file, 'utf8')
  })
  afterAll(async () => {
    await bait.close()
    await place.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the bait works: as plain markup the same texts run their script and load from afar', async () => {
    const bare = join(folder, 'bare.html')
    for (const text of [texts[0], texts[3]]) {
      writeFileSync(bare, `<!doctype html><meta charset="utf-8">${text}`)
      expect(await openInBrowser(pathToFileURL(bare).href, ['--dump-dom'])).toContain(MARK)
    }
    bait.hits.length = 0
    writeFileSync(bare, `<!doctype html><meta charset="utf-8">${loading().join('\n')}`)
    await openInBrowser(pathToFileURL(bare).href, ['--dump-dom'])
    expect(bait.hits).toEqual(expect.arrayContaining(['/script.js', '/img', '/css', '/frame']))
  })

  test('no script runs, no request is made, and every text is there to be read', async () => {
    bait.hits.length = 0
    const dom = await openInBrowser(pathToFileURL(file).href, ['--dump-dom'])
    expect(dom).toContain('<main>')
    expect(dom).not.toContain(MARK)
    expect(bait.hits).toEqual([])
    const letters = (text: string) => text.replace(/\s+/gu, ' ').trim()
    // Halves of letters are no letters to the mirror already.
    const seen = letters(unescaped(dom.slice(dom.indexOf('<main>')).replace(/<[^>]*>/gu, '')))
    expect(texts.filter((text) => seen.split(letters(shown(text.toWellFormed()))).length < 4)).toEqual([])
  })

  test('the tree in the browser holds nothing but what the page is made of', async () => {
    const dom = await openInBrowser(pathToFileURL(file).href, ['--dump-dom'])
    const tags = new Set([...dom.matchAll(/<([a-z][\w-]*)/gu)].map(([, name]) => name))
    for (const name of ['script', 'img', 'svg', 'iframe', 'object', 'embed', 'video', 'link', 'base', 'form']) {
      expect(tags).not.toContain(name)
    }
    expect(dom).not.toMatch(/<[^>]*\son\w+=/u)
    expect(dom.match(/<article /gu)).toHaveLength(texts.length)
  })

  test('its policy alone would stop what the escaping let through', async () => {
    const leaky = join(folder, 'leaky.html')
    writeFileSync(leaky, html.replace('<main>', `<main>${loading().join('\n')}`))
    bait.hits.length = 0
    const dom = await openInBrowser(pathToFileURL(leaky).href, ['--dump-dom'])
    expect(dom).toContain('/script.js"></script>')
    expect(dom).not.toContain(MARK)
    // To make a connection ahead of time is the one thing that no policy forbids.
    expect(bait.hits.filter((hit) => hit !== 'connection')).toEqual([])
  })

  test('its style is let in: the page is painted, light and dark', async () => {
    const hashes = await Promise.all(['0', '1'].map((scheme) => screenshotHash(scheme)))
    expect(new Set(hashes).size).toBe(2)
    const unstyled = join(folder, 'unstyled.html')
    writeFileSync(unstyled, html.replace(/<style>[^<]*<\/style>/u, '<style>*{color:red}</style>'))
    expect(hashes).not.toContain(await screenshotHash('1', unstyled))
  })

  /** Those that work side by side: the others close or hide what follows them, or lead away from the page. */
  const loading = (): readonly string[] => [...texts.slice(0, 5), ...texts.slice(8, 12)]

  async function screenshotHash(scheme: string, page = file): Promise<string> {
    const picture = join(folder, `${scheme}.png`)
    const flags = [
      `--blink-settings=preferredColorScheme=${scheme}`,
      `--screenshot=${picture}`,
      '--window-size=900,1200',
    ]
    await openInBrowser(pathToFileURL(page).href, flags)
    const bytes = readFileSync(picture)
    expect(bytes.length).toBeGreaterThan(10_000)
    return createHash('sha256').update(bytes).digest('hex')
  }
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
