import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { cursordexBin, getJson, untilReady } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { openBrowser, visit, type Visit, type VisitOptions } from './browser.ts'

/** What serves the page. */
interface Server {
  readonly url: string
  readonly stop: () => Promise<unknown>
}

/** `cursordex demo`, as a newcomer starts it. */
export async function startDemo(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-web-'))
  const argv = [cursordexBin, 'demo', '--port', '0', '--data-dir', join(folder, 'data')]
  const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const url = await waitUntil('the demo', () => /listening on (http:\S+)/.exec(output)?.[1])
  await untilReady(url)
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, stop }
}

interface ChatsOptions {
  /** Cursor's home folder is read too. */
  readonly hasCursorHome?: boolean
}

/**
 * A daemon that has indexed a Cursor of its own. @param fill writes the chats
 */
export async function startChats(
  fill: (home: CursorHome) => unknown,
  { hasCursorHome = false }: ChatsOptions = {},
): Promise<Server & { readonly daemon: RunningDaemon; readonly home: CursorHome }> {
  const home = new CursorHome()
  fill(home)
  home.close()
  const flags = hasCursorHome ? ['--cursor-home', join(home.root, '.cursor')] : []
  const daemon = await RunningDaemon.start({ userDirs: [home.userDir], flags })
  await daemon.waitReady()
  const stop = async (): Promise<void> => {
    await daemon.stop()
    home.remove()
  }
  return { url: daemon.url, stop, daemon, home }
}

/**
 * One browser for all tests of a file. Each tab is closed after its test, which fails if the tab had a fault: an error of
 * a script, something against the page's policy, or a request to another server.
 */
export function useTabs() {
  let browser: Browser | undefined
  const tabs: Visit[] = []
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    const closed = tabs.splice(0)
    for (const { context } of closed) await context.close()
    expect(closed.flatMap(({ faults }) => faults)).toEqual([])
  })
  return async (url: string, options: VisitOptions = {}): Promise<Page> => {
    if (browser === undefined) throw new Error('no browser was opened')
    const tab = await visit(browser, url, options)
    tabs.push(tab)
    return tab.page
  }
}

/** One server of the page for all tests of a file. @param openTab a browser's, if the file uses it for more */
export function usePlace<Started extends Server>(start: () => Promise<Started>, openTab = useTabs()) {
  let started: Started | undefined
  beforeAll(async () => {
    started = await start()
  })
  afterAll(() => started?.stop())
  const server = (): Started => {
    if (started === undefined) throw new Error('nothing was started')
    return started
  }
  return {
    server,
    /** A tab of its own, which shows nothing yet. */
    tab: (options: VisitOptions = {}): Promise<Page> => openTab(server().url, options),
    get: <Answer>(path: string): Promise<Answer> => getJson<Answer>(server().url, path),
  }
}
