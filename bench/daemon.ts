import { Agent, get, type IncomingMessage } from 'node:http'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ownBin = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url))
const START_MS_MAX = 20_000
const READY_MS_MAX = 900_000

export interface Status {
  readonly state: string
  readonly estimation: { readonly state: string; readonly left: number | null }
  readonly resources: { readonly bytesRead: number; readonly textBytes: number }
}

/** The real program, serving a store in its own process. */
export class BenchDaemon {
  readonly pid: number
  readonly url: string
  readonly dataDir: string
  /** `performance.now()` when the process was started. */
  readonly startedAtMs: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string, dataDir: string, startedAtMs: number) {
    this.#child = child
    this.pid = child.pid ?? 0
    this.url = url
    this.dataDir = dataDir
    this.startedAtMs = startedAtMs
  }

  /**
   * Resolves when the daemon listens. Indexing has just begun.
   * @param bin the program; by default the one of this checkout
   */
  static async start(userDirs: readonly string[], dataDir: string, bin = ownBin): Promise<BenchDaemon> {
    const sources = userDirs.flatMap((userDir) => ['--cursor-user-dir', userDir])
    const flags = ['--port', '0', '--data-dir', dataDir, ...sources, '--log-level', 'error']
    const startedAtMs = performance.now()
    const child = spawn(process.execPath, [bin, 'serve', ...flags], {
      env: withoutSettings(dataDir),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await listeningUrl(child)
    return new BenchDaemon(child, url, dataDir, startedAtMs)
  }

  get<Answer>(path: string): Promise<Answer> {
    return getJson<Answer>(`${this.url}${path}`)
  }

  status(): Promise<Status> {
    return this.get<Status>('/api/status')
  }

  /** How many messages match the query. */
  async count(q: string): Promise<number> {
    return (
      await this.get<{ total: number }>(`/api/search?sort=newest&limit=1&literal=true&q=${encodeURIComponent(q)}`)
    ).total
  }

  async untilReady(): Promise<Status> {
    for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; await sleep(50)) {
      const status = await this.status()
      if (status.state === 'ready') return status
    }
    throw new Error(`not ready within ${READY_MS_MAX / 1000} s`)
  }

  /** Counting tokens goes on after the store was read. */
  async untilCounted(): Promise<void> {
    for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; await sleep(200)) {
      const { state } = (await this.status()).estimation
      if (state === 'done') return
    }
    throw new Error(`tokens not counted within ${READY_MS_MAX / 1000} s`)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(killer)
  }
}

/**
 * An environment without the user's settings and Cursor. It also leaves out extra certificates, because loading all
 * certificates of the system costs every Node 50 ms at its start.
 */
function withoutSettings(home: string): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(?:CURSORDEX_|XDG_|NODE_EXTRA_CA_CERTS$)/.test(name))
  return { ...Object.fromEntries(others), HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home }
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  for (const endMs = performance.now() + START_MS_MAX; performance.now() < endMs; await sleep(5)) {
    const url = /^cursordex listening on (http:\S+)\n/.exec(output)?.[1]
    if (url !== undefined) return url
    if (child.exitCode !== null) break
  }
  child.kill('SIGKILL')
  throw new Error(`the daemon did not listen within ${START_MS_MAX / 1000} s`)
}

/** Connections are reused. Node's own `fetch` takes about as long as a request that does nothing. */
const agent = new Agent({ keepAlive: true })

/** @throws Error if the status is not 200 */
async function getJson<Answer>(url: string): Promise<Answer> {
  // A statement may have blocked the bench for seconds, so that the server has closed the connection.
  const { status, text } = await ask(url).catch(() => ask(url))
  if (status !== 200) throw new Error(`${url} answered ${status}: ${text}`)
  return JSON.parse(text) as Answer
}

interface TextResponse {
  readonly status: number | undefined
  readonly text: string
}

function ask(url: string): Promise<TextResponse> {
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => (text += more))
      answer.on('end', () => resolve({ status: answer.statusCode, text })).on('error', reject)
    }
    get(url, { agent }, onAnswer).on('error', reject)
  })
}
