import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openBrowser } from '../test/web/browser.ts'
import type { BenchDaemon } from './daemon.ts'
import { keepLongThread, LONG_CHAT, LONG_MESSAGES, longMessage } from './long-thread.ts'
import { ProbedPage } from './page-probe.ts'
import { drawQuestions } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

type Browser = Awaited<ReturnType<typeof openBrowser>>

const RUNS_MIN = 5
/** How fast a person types. */
const BETWEEN_KEYS_MS = 180
/** Kinds of words that are typed: rare, middling and common ones. */
const KINDS = 3
const SCRIPT_BYTES_MAX = 25_000
const PAINT_LATER_MS_MAX = 100
const RESULTS_LATER_MS_MAX = 150
const OPEN_MS_MAX = 700
/** The aims are stricter than what is required. */
const AIMS = { paint: 150, results: 100, facets: 400, open: 500 } as const

interface Typed {
  readonly kind: string
  /** From each key to its results on the screen, and the same request over HTTP. */
  readonly page: number[]
  readonly http: number[]
  /** From the last key to the facets on the screen, and the same request over HTTP. */
  readonly facets: number[]
  readonly facetsHttp: number[]
}

interface Measured {
  readonly scriptBytes: readonly number[]
  readonly paint: readonly number[]
  readonly emptyPaint: readonly number[]
  readonly typed: readonly Typed[]
  readonly open: ReadonlyMap<string, readonly number[]>
}

/** What a person waits for in the page: first paint, results while typing, and a chat of 5,000 messages. */
export async function page(shop: Workshop): Promise<void> {
  const runs = Math.max(RUNS_MIN, shop.runs)
  const daemon = await shop.startKeptWith(keepLongThread())
  const empty = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>Empty</title><p>Empty')
  })
  const browser = await openBrowser()
  try {
    await once(empty.listen(0, '127.0.0.1'), 'listening')
    const emptyUrl = `http://127.0.0.1:${(empty.address() as AddressInfo).port}`
    const loadBefore = loadavg()[0] ?? 0
    const paints = await timePaints(browser, daemon.url, emptyUrl, runs)
    const typed = await timeTyping(browser, daemon, runs)
    const open = await timeOpening(browser, daemon.url, runs)
    report(shop, { ...paints, typed, open })
    shop.say(`\n${runs} runs, Chromium ${browser.version()}`)
    shop.say(`load of the machine before and after: ${short(loadBefore)}, ${short(loadavg()[0] ?? 0)}`)
  } finally {
    await browser.close()
    empty.closeAllConnections()
    empty.close()
  }
}

/** Opens the start page and the empty page in turns, each without a cache. The first turn does not count. */
async function timePaints(
  browser: Browser,
  url: string,
  emptyUrl: string,
  runs: number,
): Promise<Pick<Measured, 'scriptBytes' | 'paint' | 'emptyPaint'>> {
  const [scriptBytes, paint, emptyPaint]: [number[], number[], number[]] = [[], [], []]
  for (let turn = 0; turn <= 2 * runs; turn += 1) {
    const [empty, start] = [await ProbedPage.open(browser, emptyUrl), await ProbedPage.open(browser, url)]
    await empty.page.goto('/')
    const emptyMs = await empty.firstPaint()
    await start.page.goto('/')
    const startMs = await start.firstPaint()
    await start.page.locator('[data-hit]').first().waitFor()
    await sleep(300)
    if (turn > 0) {
      emptyPaint.push(emptyMs)
      paint.push(startMs)
      scriptBytes.push(await start.scriptBytes())
    }
    await empty.close()
    await start.close()
  }
  return { scriptBytes, paint, emptyPaint }
}

async function timeTyping(browser: Browser, daemon: BenchDaemon, runs: number): Promise<Typed[]> {
  const kinds = drawQuestions(mirrorPath(daemon.dataDir), runs).slice(0, KINDS)
  const typed = kinds.map(({ name }): Typed => ({ kind: name, page: [], http: [], facets: [], facetsHttp: [] }))
  const probed = await ProbedPage.open(browser, daemon.url)
  await probed.page.goto('/')
  for (let run = 0; run < runs; run += 1) {
    for (const [index, { asked }] of kinds.entries()) {
      const times = typed[index]
      if (times !== undefined) await typeWord(probed, daemon, asked[run]?.q ?? '', times)
    }
  }
  await probed.close()
  return typed
}

/** Types a word into the empty field. Each search is asked by the page and over HTTP, each of them first in turns. */
async function typeWord(probed: ProbedPage, daemon: BenchDaemon, word: string, times: Typed): Promise<void> {
  const field = probed.page.getByRole('combobox', { name: 'Search all chats' })
  await field.fill('')
  await probed.page.getByRole('heading', { name: 'Newest chats' }).waitFor()
  await field.focus()
  await sleep(500)
  for (let length = 1; length <= word.length; length += 1) {
    const q = word.slice(0, length)
    const isHttpFirst = length % 2 === 0
    const expected = `/api/search?q=${q}${length < 3 ? '' : '*'}&group=chat&limit=20`
    if (isHttpFirst) times.http.push(await timeHttp(daemon, expected))
    const nextKeyAtMs = performance.now() + BETWEEN_KEYS_MS
    await probed.page.keyboard.press(q.slice(-1))
    const { path, ms } = await probed.until('results', q)
    if (decodeURIComponent(path) !== expected) throw new Error(`the page asked ${path} and not ${expected}`)
    times.page.push(ms)
    if (!isHttpFirst) times.http.push(await timeHttp(daemon, path))
    if (length < word.length) await sleep(Math.max(0, nextKeyAtMs - performance.now()))
  }
  const facets = await probed.until('facets', word)
  times.facets.push(facets.ms)
  times.facetsHttp.push(await timeHttp(daemon, facets.path))
}

async function timeHttp(daemon: BenchDaemon, path: string): Promise<number> {
  const startedAtMs = performance.now()
  await daemon.get(path)
  return performance.now() - startedAtMs
}

/** Each in a browser without a cache, but for the click, which follows a search in the same tab. */
async function timeOpening(browser: Browser, url: string, runs: number): Promise<Map<string, number[]>> {
  const middle = longMessage(LONG_MESSAGES / 2)
  const ways = [
    ['its address', `/chats/${LONG_CHAT}`, longMessage(0)],
    ['the address of its middle message', `/chats/${LONG_CHAT}#${middle}`, middle],
  ] as const
  const open = new Map<string, number[]>()
  const add = (way: string, ms: number): unknown => open.set(way, [...(open.get(way) ?? []), ms])
  for (let run = 0; run < runs; run += 1) {
    for (const [way, address, message] of ways) {
      const probed = await ProbedPage.open(browser, url)
      await probed.page.goto(address, { waitUntil: 'commit' })
      add(way, await probed.untilOpen(message, false))
      await probed.close()
    }
    const probed = await ProbedPage.open(browser, url)
    await probed.page.goto('/')
    // The chat is the newest one.
    const link = probed.page.locator(`[data-hit][href="/chats/${LONG_CHAT}"]`)
    await link.waitFor()
    await sleep(300)
    await link.click()
    add('a click on the start page', await probed.untilOpen(longMessage(0), true))
    await probed.close()
  }
  return open
}

function report(shop: Workshop, { scriptBytes, paint, emptyPaint, typed, open }: Measured): void {
  const later = paint.map((ms, turn) => ms - (emptyPaint[turn] ?? Number.NaN))
  const keys = typed.flatMap((times) => times.page)
  const http = typed.flatMap((times) => times.http)
  const facets = typed.flatMap((times) => times.facets)
  const rows = typed.map((times) => [
    times.kind,
    String(times.page.length),
    ...[times.page, times.http, times.facets, times.facetsHttp].flatMap((all) => [
      short(median(all)),
      short(percentile(all, 95)),
    ]),
  ])
  const head = [
    'typed',
    'keys',
    'to results p50 ms',
    'p95',
    'HTTP p50',
    'p95',
    'to facets p50',
    'p95',
    'HTTP p50',
    'p95',
  ]
  shop.say(table(head, rows))
  const opened = [...open].map(([way, times]) => [way, short(median(times)), times.map(short).join(', ')])
  shop.say(`\n${table([`a chat of ${LONG_MESSAGES} messages opens by`, 'median ms', 'runs'], opened)}`)
  const openMs = Math.max(...[...open.values()].map(median))
  const behindMs = percentile(keys, 95) - percentile(http, 95)
  const own = keys.map((ms, key) => ms - (http[key] ?? Number.NaN))
  shop.say(`\nof each key, the page takes ${short(median(own))} ms more than the same request over HTTP (median)\n`)
  const line = (what: string, value: number, most: number): void =>
    shop.say(`${value <= most ? 'reached' : 'MISSED '} ${what}: ${short(value)}, at most ${most}`)
  line('required: script on first load, compressed bytes', Math.max(...scriptBytes), SCRIPT_BYTES_MAX)
  line('required: first paint after that of the empty page, ms', median(later), PAINT_LATER_MS_MAX)
  line('required: results p95 after that of HTTP, ms', behindMs, RESULTS_LATER_MS_MAX)
  line('required: a long chat opens, slowest way, ms', openMs, OPEN_MS_MAX)
  line(`aim: first paint (the empty page: ${short(median(emptyPaint))}), ms`, median(paint), AIMS.paint)
  line(`aim: results p95 (p50: ${short(median(keys))}), ms`, percentile(keys, 95), AIMS.results)
  line(`aim: facets p95 (p50: ${short(median(facets))}), ms`, percentile(facets, 95), AIMS.facets)
  line('aim: a long chat opens, ms', openMs, AIMS.open)
}
