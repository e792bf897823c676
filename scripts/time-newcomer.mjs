// How long a new user waits: clones this checkout into a temporary folder, installs it, starts the demo, and prints the
// seconds until each visible result. Uncommitted changes are not included.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const WITHIN_MS = 120_000
const here = fileURLToPath(new URL('..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'cursordex-newcomer-'))
const clone = join(place, 'cursordex')
const isWindows = process.platform === 'win32'

/** Prints the seconds since a moment. */
const report = (what, sinceMs) =>
  process.stdout.write(`${((performance.now() - sinceMs) / 1000).toFixed(2).padStart(8)} s  ${what}\n`)

async function until(what, ask) {
  const endMs = performance.now() + WITHIN_MS
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > endMs) throw new Error(`waited ${WITHIN_MS / 1000} s for ${what} without success`)
    await sleep(20)
  }
}

async function itemsOf(url, path) {
  const response = await fetch(`${url}${path}`)
  return response.ok ? (await response.json()).items : []
}

/** A word of a chat that began after `afterMs`, with the chat's id. */
async function freshWord(url, afterMs) {
  const chats = await itemsOf(url, '/api/chats?sort=newest&limit=5')
  const fresh = chats.find(({ createdAt }) => Date.parse(createdAt) >= afterMs)
  if (fresh === undefined) return null
  const [first] = await itemsOf(url, `/api/chats/${encodeURIComponent(fresh.id)}/messages`)
  const text = first?.parts.find(({ kind }) => kind === 'text')?.text ?? ''
  const word = text.match(/[A-Z]+-\d+/)?.[0]
  return word === undefined ? null : { chatId: fresh.id, word }
}

async function timeDemo() {
  const startedMs = performance.now()
  const startedAtMs = Date.now()
  const demo = spawn('npm', ['start', '--', '--demo'], {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: isWindows,
    // Then a signal reaches npm and its child processes.
    detached: !isWindows,
  })
  let output = ''
  demo.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  try {
    const url = await until('the listening line', () => {
      if (demo.exitCode !== null) throw new Error(`the demo ended: ${output}`)
      return /^cursordex listening on (http:\S+)$/m.exec(output)?.[1]
    })
    report('npm start -- --demo: the listening line (build included)', startedMs)
    await until('ready', async () => (await (await fetch(`${url}/api/status`)).json()).state === 'ready')
    report('ready: the whole sample is indexed', startedMs)
    const { chatId, word } = await until('a new chat', () => freshWord(url, startedAtMs))
    await until(`a hit for ${word}`, async () =>
      (await itemsOf(url, `/api/search?q=${word}`)).some(({ chat }) => chat.id === chatId),
    )
    report(`a hit for ${word}, in a chat that began after the start`, startedMs)
  } finally {
    const ended = once(demo, 'exit')
    if (isWindows || demo.pid === undefined) demo.kill()
    else process.kill(-demo.pid, 'SIGTERM')
    await ended
  }
}

try {
  const startedMs = performance.now()
  execFileSync('git', ['clone', '--quiet', here, clone], { stdio: ['ignore', 'ignore', 'inherit'] })
  const clonedMs = performance.now()
  execFileSync('npm', ['ci'], { cwd: clone, stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows })
  report('npm ci', clonedMs)
  await timeDemo()
  report('total, including the clone', startedMs)
} finally {
  rmSync(place, { recursive: true, force: true })
}
