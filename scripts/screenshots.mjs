// Makes the pictures of the page in docs/pictures/ from the demo, in Chromium: each screen in light and dark, wide and narrow.
// README and docs show some of them. Run it in a built checkout: node scripts/screenshots.mjs [folder]
// With a folder, all screens are written there at three widths, to look at.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'cursordex-pictures-'))
const argv = [join(root, 'dist', 'cli', 'bin.js'), 'demo', '--port', '0', '--data-dir', join(place, 'data')]
const demo = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
let output = ''
demo.stdout.setEncoding('utf8').on('data', (text) => (output += text))
const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const SEARCH = '/?q=getUserName+throws'

async function demoUrl() {
  for (;;) {
    const url = /listening on (http:\S+)/.exec(output)?.[1]
    if (url !== undefined && (await (await fetch(`${url}/api/status`)).json()).state === 'ready') return url
    if (demo.exitCode !== null) throw new Error('the demo ended')
    await sleep(100)
  }
}

/** The addresses of the screens, and what is there when a screen is complete. */
async function screensOf(url) {
  const get = async (path) => (await fetch(`${url}${path}`)).json()
  const { items } = await get('/api/search?q=getUserName+throws')
  const [{ message }] = items
  const chat = `/chats/${encodeURIComponent(message.chatId)}?q=getUserName+throws#${encodeURIComponent(message.id)}`
  const [project] = (await get('/api/projects')).items
  return {
    start: ['/', '.chat-list > li'],
    search: [SEARCH, '.found .hit'],
    chat: [chat, '.thread [data-message]'],
    project: [`/projects/${project.id}`, 'canvas'],
    stats: ['/stats', 'canvas'],
    tokens: ['/tokens', 'table'],
    losses: ['/losses', 'main h1'],
    archives: ['/archives', 'main h1'],
    status: ['/status', 'table'],
  }
}

async function take(browser, url, [path, ready], { file, width, theme, height = 800 }) {
  const viewport = { width, height }
  const context = await browser.newContext({ viewport, colorScheme: theme, baseURL: url, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(path)
  await page.locator(ready).first().waitFor({ timeout: 15_000 })
  // Charts, highlighting and the place of the hit come after the first content.
  await sleep(700)
  await page.screenshot({ path: file })
  await context.close()
}

const folder = process.argv[2]
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
try {
  const url = await demoUrl()
  // The demo's agent writes for some seconds.
  await sleep(8000)
  const screens = await screensOf(url)
  const target = folder ?? join(root, 'docs', 'pictures')
  mkdirSync(target, { recursive: true })
  const shots =
    folder === undefined
      ? [
          ['search', 'light', 1200],
          ['chat', 'dark', 1200],
          ['tokens', 'light', 1200],
        ].map(([name, theme, width]) => ({ name, theme, width, file: join(target, `${name}.png`) }))
      : Object.keys(screens).flatMap((name) =>
          ['light', 'dark'].flatMap((theme) =>
            [360, 1200, 2560].map((width) => ({
              name,
              theme,
              width,
              file: join(target, `${name}-${theme}-${width}.png`),
            })),
          ),
        )
  for (const { name, ...shot } of shots) await take(browser, url, screens[name], shot)
  process.stdout.write(`${shots.length} pictures in ${target}\n`)
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await once(demo, 'exit')
  rmSync(place, { recursive: true, force: true })
}
