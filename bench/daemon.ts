import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import { ATTACHED, indexPath } from '../src/mirror/index/index-file.ts'
import Database from '../src/sqlite.ts'

const START_MS_MAX = 20_000
const READY_MS_MAX = 900_000

export interface Status {
  readonly state: string
  readonly resources: { readonly bytesRead: number }
}

/** The real program, serving a store in its own process. */
export class BenchDaemon {
  readonly pid: number
  readonly dataDir: string
  /** `performance.now()` when the process was started. */
  readonly startedAtMs = performance.now()
  readonly #child: ChildProcessByStdio<null, Readable, null>
  url = ''

  private constructor(bin: string, userDir: string, dataDir: string) {
    const flags = ['--port', '0', '--data-dir', dataDir, '--cursor-user-dir', userDir, '--log-level', 'error']
    this.#child = spawn(process.execPath, [bin, 'serve', ...flags], {
      env: withoutSettings(dataDir),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.pid = this.#child.pid ?? 0
    this.dataDir = dataDir
  }

  /** Resolves when the daemon listens. Indexing has just begun. */
  static async start(bin: string, userDir: string, dataDir: string): Promise<BenchDaemon> {
    const daemon = new BenchDaemon(bin, userDir, dataDir)
    const lines = createInterface(daemon.#child.stdout)
    const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(START_MS_MAX) })) as [string]
    daemon.url = /^cursordex listening on (http:\S+)/.exec(line)?.[1] ?? ''
    return daemon
  }

  get mirrorPath(): string {
    return mirrorIn(this.dataDir)
  }

  /** @throws Error if the status is not 200 */
  async get<Answer>(path: string): Promise<Answer> {
    const url = `${this.url}${path}`
    // A statement may have blocked the bench for seconds, so that the server has closed the connection.
    const { status, text } = await ask(url).catch(() => ask(url))
    if (status !== 200) throw new Error(`${url} answered ${status}: ${text}`)
    return JSON.parse(text) as Answer
  }

  status(): Promise<Status> {
    return this.get<Status>('/api/status')
  }

  /** Waits until everything can be found. */
  async untilReady(): Promise<void> {
    for (const endMs = performance.now() + READY_MS_MAX; performance.now() < endMs; await sleep(50)) {
      if ((await this.status()).state === 'ready') return
    }
    throw new Error(`the daemon was still working after ${READY_MS_MAX / 1000} s`)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
  }
}

/** Opens a mirror with its full-text index, which has a file of its own since schema 29. */
export function openMirror(mirrorPath: string): Sqlite.Database {
  const db = new Database(mirrorPath, { readonly: true })
  const index = indexPath(mirrorPath)
  if (existsSync(index)) db.prepare(`attach database ? as ${ATTACHED}`).run(index)
  return db
}

/** The name of the database that has the full-text tables. */
export const indexOf = (db: Sqlite.Database): string => (existsSync(indexPath(db.name)) ? ATTACHED : 'main')

export const mirrorIn = (dataDir: string): string => join(dataDir, 'mirror.db')

/**
 * An environment without the user's settings and Cursor. It also leaves out extra certificates, because loading all
 * certificates of the system costs every Node 50 ms at its start.
 */
export function withoutSettings(home: string): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(?:CURSORDEX_|XDG_|NODE_EXTRA_CA_CERTS$)/.test(name))
  return { ...Object.fromEntries(others), HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home }
}

/** Connections are reused. Node's own `fetch` takes about as long as a request that does nothing. */
const agent = new Agent({ keepAlive: true })

function ask(url: string): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => (text += more))
      answer.on('end', () => resolve({ status: answer.statusCode, text })).on('error', reject)
    }).on('error', reject)
  })
}

// Processes are looked at in /proc. Without it, figures of memory and CPU are 0.

/** Milliseconds of a clock tick, the same on every Linux that Node runs on. */
const TICK_MS = 10

/** Empty if the process ended. */
function readProc(pid: number | 'self', name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** The fields after the name of the program. The name may contain spaces and parentheses. */
const statOf = (pid: number | 'self'): string[] => readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []

/** A process and all of its descendants, such as the daemon's search processes. */
function familyOf(pid: number): number[] {
  if (process.platform !== 'linux') return [pid]
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))[1])] as const)
  const family = [pid]
  for (const member of family) family.push(...parents.flatMap(([child, parent]) => (parent === member ? [child] : [])))
  return family
}

const sumOf = (pid: number, figure: (member: number) => number): number =>
  familyOf(pid).reduce((sum, member) => sum + figure(member), 0)

/** Resident memory of a process and its descendants. Pages that they share count in each. */
export const familyBytes = (pid: number): number =>
  sumOf(pid, (member) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc(member, 'status'))?.[1] ?? 0) * 1024)

/** CPU time so far of a process and its running descendants. */
export const familyCpuMs = (pid: number): number =>
  sumOf(pid, (member) => ticks(statOf(member).slice(11, 13)) * TICK_MS)

const ticks = (fields: readonly string[]): number => fields.reduce((sum, field) => sum + Number(field), 0)

/** The most memory that a process and its descendants have until something is done. */
export async function peakDuring<Outcome>(pid: number, act: Promise<Outcome>): Promise<readonly [number, Outcome]> {
  let most = familyBytes(pid)
  const timer = setInterval(() => (most = Math.max(most, familyBytes(pid))), 25)
  const outcome = await act.finally(() => clearInterval(timer))
  return [most, outcome]
}

/** A Node that wakes up once a second and does nothing. */
export const startBareNode = (): ChildProcess =>
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
