// Makes the pictures that README and docs show, from the demo: three screens of the page (docs/pictures, in Chromium), and
// docs/terminal.svg, in which the output of some commands takes turns (in a terminal that python3 makes). Run it in a built
// checkout: node scripts/pictures.mjs
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'dist', 'cli', 'bin.js')
const place = mkdtempSync(join(tmpdir(), 'cursordex-pictures-'))
// The data folder is set in the environment, so that the picture shows the commands without --data-dir.
const env = { ...process.env, CURSORDEX_DATA_DIR: join(place, 'data'), CURSORDEX_PORT: '0', TZ: 'UTC', TERM: 'xterm' }
delete env.NO_COLOR

const [COLUMNS, ROWS, SECONDS_A_SCENE] = [100, 19, 6]
const [CELL, LINE] = [8.4, 20]
const scenes = (chatId) => [
  [['search', 'getUserName', '--limit', '12']],
  [['search', '数据库'], ['search', 'connection', 'pool', '--role', 'user'], ['projects']],
  [['show', chatId.slice(0, 8), '--no-pager']],
  [['chats', '--sort', 'newest', '--limit', '14']],
]

/** The output of a command on a terminal. */
function printed(words) {
  const inTerminal = `stty cols ${COLUMNS} rows 50; exec "$@"`
  const python = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))'
  const argv = ['-c', python, 'sh', '-c', inTerminal, 'sh', process.execPath, bin, ...words]
  const stdio = ['ignore', 'pipe', 'inherit']
  return execFileSync('python3', argv, { env, encoding: 'utf8', stdio }).replaceAll('\r', '').trimEnd().split('\n')
}

/** A line of output. Each control sequence begins another span, with its number as class. */
function lineSvg(line, row) {
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  // oxlint-disable-next-line no-control-regex -- control sequences begin with an escape
  const spans = escaped.replaceAll(/\x1b\[(\d*)m/g, '</tspan><tspan class="s$1">')
  return `<text x="18" y="${30 + row * LINE}"><tspan>${spans}</tspan></text>`.replaceAll(/<tspan[^>]*><\/tspan>/g, '')
}

function terminalSvg(chatId) {
  const all = scenes(chatId)
  const drawn = all.map((scene, index) => {
    const lines = scene.flatMap((words) => [`\x1b[1m$ cursordex ${words.join(' ')}\x1b[22m`, ...printed(words), ''])
    const delay = `animation-delay:${index * SECONDS_A_SCENE}s`
    return `<g class="scene" style="${delay}">\n${lines.slice(0, ROWS).map(lineSvg).join('\n')}\n</g>`
  })
  const size = `viewBox="0 0 ${Math.round(36 + COLUMNS * CELL)} ${20 + ROWS * LINE}" width="${Math.round(36 + COLUMNS * CELL)}" height="${20 + ROWS * LINE}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">
<title>cursordex finds a message by an identifier, by Chinese words, lists chats and prints one</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre}
.s1,.s36{fill:#f2cc60;font-weight:700}.s2{fill:#8b949e}.s36{fill:#79c0ff}
.scene{opacity:0;animation:turn ${all.length * SECONDS_A_SCENE}s infinite step-end}
.scene:first-of-type{opacity:1}
@keyframes turn{0%{opacity:1}${100 / all.length}%{opacity:0}}
@media (prefers-reduced-motion:reduce){.scene{animation:none}}
</style>
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>
${drawn.join('\n')}
</svg>
`
}

async function photograph(url, hit) {
  const chat = `/chats/${encodeURIComponent(hit.chatId)}?q=getUserName+throws#${encodeURIComponent(hit.id)}`
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  for (const [name, path, ready, colorScheme] of [
    ['search', '/?q=getUserName+throws', '[data-hit] mark', 'light'],
    ['chat', chat, '.thread [data-message]', 'dark'],
    ['tokens', '/tokens', 'table', 'light'],
  ]) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme, baseURL: url })
    await page.goto(path)
    await page.locator(ready).first().waitFor()
    // Charts, highlighting and the place of the hit come after the first content.
    await sleep(700)
    await page.screenshot({ path: join(root, 'docs', 'pictures', `${name}.png`) })
  }
  await browser.close()
}

const demo = spawn(process.execPath, [bin, 'demo'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
let output = ''
demo.stdout.setEncoding('utf8').on('data', (text) => (output += text))
try {
  // The demo's agent writes for some seconds.
  await sleep(12_000)
  const url = /listening on (http:\S+)/.exec(output)?.[1]
  if (url === undefined) throw new Error(`The demo does not run: ${output}`)
  const { items } = await (await fetch(`${url}/api/search?q=getUserName+throws`)).json()
  await photograph(url, items[0].message)
  writeFileSync(join(root, 'docs', 'terminal.svg'), terminalSvg(items[0].message.chatId))
} finally {
  demo.kill('SIGTERM')
  await once(demo, 'exit')
  rmSync(place, { recursive: true, force: true })
}
