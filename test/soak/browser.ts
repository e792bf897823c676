import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const places = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A browser of this machine. @throws where there is none */
function findBrowser(): string {
  const found = places.find((place) => place !== undefined && existsSync(place))
  if (found === undefined) throw new Error('No Chromium here: apt install chromium, or name one in CHROMIUM.')
  return found
}

const quiet = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
]

/** Opens a page in a browser that has never been anywhere, lets it go on for some seconds, and gives what it became. */
export async function openInBrowser(url: string, flags: readonly string[] = []): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), 'cursordex-browser-'))
  try {
    // Virtual time runs on while nothing is loading: pages that wait, redirect and load later get to it.
    const argv = [...quiet, `--user-data-dir=${profile}`, '--virtual-time-budget=10000', ...flags, url]
    const { stdout } = await run(findBrowser(), argv, { maxBuffer: 64 * 1024 * 1024, timeout: 60_000 })
    return stdout
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

export interface Bait {
  readonly port: number
  /** The paths that were asked for. */
  readonly hits: string[]
  close(): Promise<void>
}

/** A server that answers anything, and remembers what it was asked. */
export async function setBait(): Promise<Bait> {
  const hits: string[] = []
  const server = createServer((request, response) => {
    hits.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'text/plain', 'access-control-allow-origin': '*' }).end('caught')
  })
  // A connection that asks nothing is one made ahead of a request.
  server.on('connection', () => hits.push('connection'))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
