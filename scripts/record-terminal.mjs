// Makes docs/terminal.svg: runs the demo and real commands in a terminal of 100 columns with colours, and draws their
// output. The scenes are animated with CSS only, without scripts and external fonts. Needs python3 for a terminal. Run it
// in a built checkout: node scripts/record-terminal.mjs
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'dist', 'cli', 'bin.js')
const COLUMNS = 100
const ROWS = 19
const SECONDS_A_SCENE = 6
const START_WITHIN_MS = 20_000

const place = mkdtempSync(join(tmpdir(), 'cursordex-record-'))
// The data folder is set in the environment, so that the picture shows the commands without --data-dir.
const env = { ...process.env, CURSORDEX_DATA_DIR: join(place, 'data'), TZ: 'UTC', TERM: 'xterm-256color' }
delete env.NO_COLOR

/** The output of a command on a terminal. */
function printed(words) {
  const inTerminal = `stty cols ${COLUMNS} rows 50; COLUMNS=${COLUMNS} exec "$@"`
  const python = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))'
  const argv = ['-c', python, 'sh', '-c', inTerminal, 'sh', process.execPath, bin, ...words]
  return execFileSync('python3', argv, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Whether a character takes two columns, as in Chinese, Japanese and Korean. */
const isWide = (sign) => /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/.test(sign)

/** Lines of cells `{sign, style, column, width}`, wrapped at the width of the terminal. */
function screenLines(text) {
  const lines = [[]]
  let style = ''
  let column = 0
  const styles = { 0: '', 1: 'b', 2: 'd', 22: '' }
  const newLine = () => {
    lines.push([])
    column = 0
  }
  // oxlint-disable-next-line no-control-regex -- control sequences begin with an escape
  for (const piece of text.replaceAll('\r', '').match(/\x1b\[[\d;]*m|[^]/gu) ?? []) {
    if (piece.startsWith('\x1b')) style = styles[piece.slice(2, -1)] ?? ''
    else if (piece === '\n') newLine()
    else {
      const width = isWide(piece) ? 2 : 1
      if (column + width > COLUMNS) newLine()
      lines.at(-1).push({ sign: piece, style, column, width })
      column += width
    }
  }
  return lines.at(-1).length === 0 ? lines.slice(0, -1) : lines
}

const CELL = 8.4
const LINE = 20
const PAD = 18
const TOP = 46
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Runs of cells with the same style and width. Each is drawn at its own column, so that the font does not matter. */
function stretchesOf(cells) {
  const stretches = []
  for (const { sign, style, column, width } of cells) {
    const last = stretches.at(-1)
    const isNext = last !== undefined && last.style === style && last.width === width
    if (isNext) last.text += sign
    else stretches.push({ text: sign, style, column, width })
  }
  // Gaps between columns need no spaces, because each run has a position.
  return stretches.flatMap(({ text, style, column, width }) =>
    [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: part, index }) => ({
      text: part,
      style,
      width,
      column: column + Array.from(text.slice(0, index)).length * width,
    })),
  )
}

function lineSvg(cells, row) {
  const spans = stretchesOf(cells).map(({ text, style, width, column }) => {
    const signs = [...text].length
    const length = signs > 3 || width > 1 ? ` textLength="${+(signs * width * CELL).toFixed(1)}"` : ''
    const look = style === '' ? '' : ` class="${style}"`
    return `<tspan x="${+(PAD + column * CELL).toFixed(1)}"${length}${look}>${escaped(text)}</tspan>`
  })
  return spans.length === 0 ? '' : `<text y="${TOP + row * LINE}">${spans.join('')}</text>`
}

const promptCells = (command) => [
  { sign: '$', style: 'p', column: 0, width: 1 },
  ...screenLines(` ${command}`)[0].map((cell) => ({ ...cell, style: 'c', column: cell.column + 1 })),
]

/** One screen: some commands and their output. */
function sceneLines(scene) {
  const lines = scene.flatMap(({ shown, words }) => [promptCells(shown), ...screenLines(printed(words)), []])
  return lines.slice(0, ROWS)
}

function svgOf(scenes) {
  const height = TOP + ROWS * LINE
  const width = Math.round(2 * PAD + COLUMNS * CELL)
  const cycle = scenes.length * SECONDS_A_SCENE
  const share = 100 / scenes.length
  const groups = scenes.map((lines, index) => {
    const drawn = lines.map((cells, row) => lineSvg(cells, row)).join('\n')
    return `<g class="s" style="animation-delay:${index * SECONDS_A_SCENE}s"${index === 0 ? ' id="first"' : ''}>\n${drawn}\n</g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>cursordex finds a message by an identifier, by Chinese words, lists chats and prints one</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:#c9d1d9;white-space:pre}
.b{fill:#f2cc60;font-weight:700}.d{fill:#8b949e}.p{fill:#7ee787;font-weight:700}.c{fill:#fff}
.s{opacity:0;animation:turn ${cycle}s infinite step-end}
#first{opacity:1}
@keyframes turn{0%{opacity:1}${share}%{opacity:0}100%{opacity:0}}
@media (prefers-reduced-motion:reduce){.s{animation:none}}
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
<g><circle cx="22" cy="18" r="6" fill="#ff5f57"/><circle cx="42" cy="18" r="6" fill="#febc2e"/><circle cx="62" cy="18" r="6" fill="#28c840"/></g>
${groups.join('\n')}
</svg>
`
}

async function record() {
  const demo = spawn(process.execPath, [bin, 'demo'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  demo.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  try {
    const endMs = performance.now() + START_WITHIN_MS
    while (!output.includes('Ctrl-C')) {
      if (demo.exitCode !== null || performance.now() > endMs) throw new Error(`no demo: ${output}`)
      await sleep(50)
    }
    const found = JSON.parse(execFileSync(process.execPath, [bin, 'search', 'getUserName', '--json'], { env }))
    const { id } = found.items[0].chat
    const scene = (...commands) => sceneLines(commands.map((words) => ({ shown: shownAs(words), words })))
    return svgOf([
      scene(['search', 'getUserName', '--limit', '12']),
      scene(['search', '数据库'], ['search', 'connection pool', '--role', 'user'], ['projects']),
      scene(['show', id.slice(0, 8), '--no-pager']),
      scene(['chats', '--sort', 'newest', '--limit', '14']),
    ])
  } finally {
    const ended = once(demo, 'exit')
    demo.kill('SIGTERM')
    await ended
  }
}

const shownAs = (words) => ['cursordex', ...words].map((word) => (word.includes(' ') ? `'${word}'` : word)).join(' ')

try {
  const svg = await record()
  mkdirSync(join(root, 'docs'), { recursive: true })
  writeFileSync(join(root, 'docs', 'terminal.svg'), svg)
  process.stdout.write(`docs/terminal.svg: ${Buffer.byteLength(svg)} bytes\n`)
} finally {
  rmSync(place, { recursive: true, force: true })
}
