import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CursorHome } from './cursor.ts'
import { waitUntil } from './wait-until.ts'

/** The program as installed: compiled and started by plain `node`. */
export const cursordexBin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

/** A promise to users: after a signal the program ends within two seconds, by force if necessary. */
export const STOP_MS_MAX = 2000

export interface Ended {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string>>
  /** User id of the process; only root may choose it. */
  readonly uid?: number
  /** Another file of Node’s; by default that of the tests. */
  readonly node?: string
  /** Another build of the program instead of this checkout's. */
  readonly bin?: string
  /** Its working folder; that of the tests by default. */
  readonly cwd?: string
  /** The content of its standard input. */
  readonly input?: string
}

export interface RunOptions extends SpawnOptions {
  /** These come after the flags of the workplace: of two equal flags the last one counts. */
  readonly flags?: readonly string[]
  /** Without the flags of the workplace. */
  readonly isBare?: boolean
}

/** One run of the program, with its output. */
export class Cursordex {
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  #stdout = ''
  #stderr = ''
  #hasEnded = false

  constructor(
    argv: readonly string[],
    { env = {}, uid, bin = cursordexBin, node = process.execPath, cwd, input }: SpawnOptions = {},
  ) {
    this.#child = spawn(node, [bin, ...argv], {
      env: { ...process.env, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(uid === undefined ? {} : { uid }),
      ...(cwd === undefined ? {} : { cwd }),
    })
    // A killed process no longer reads.
    this.#child.stdin?.on('error', () => undefined).end(input)
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    this.ended = new Promise((resolve, reject) => {
      this.#child.on('error', reject)
      this.#child.on('close', (exitCode, signal) => {
        this.#hasEnded = true
        // A command that reads Cursor for a second says so. On a busy machine any command may need that long.
        const stderr = this.#stderr.replace(/^Reading Cursor first\..*\n/m, '')
        resolve({ exitCode, signal, stdout: this.#stdout, stderr })
      })
    })
  }

  get pid(): number {
    const { pid } = this.#child
    if (pid === undefined) throw new Error('the program did not start')
    return pid
  }

  get stdout(): string {
    return this.#stdout
  }

  get stderr(): string {
    return this.#stderr
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Sends the signal and waits. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended & { readonly tookMs: number }> {
    const startedAt = performance.now()
    this.signal(signal)
    const ended = await this.ended
    return { ...ended, tookMs: performance.now() - startedAt }
  }

  /** The address from its only line on stdout. */
  listening(withinMs = 60_000): Promise<string> {
    const look = () => {
      if (this.#hasEnded) throw new Error(`it ended before it listened: ${this.#stderr}`)
      return /^cursordex listening on (http:\S+)\n/.exec(this.#stdout)?.[1]
    }
    return waitUntil('the line that tells the address', look, { withinMs })
  }
}

export interface Status {
  readonly state: string
  readonly reasons: readonly string[]
  readonly sources: readonly { readonly kind: string; readonly path: string; readonly state: string }[]
  readonly counts: Readonly<Record<string, number>>
  readonly progress: unknown
}

/** Commands that refuse a data folder that does not exist. */
const READING = new Set(['search', 'chats', 'show', 'export', 'projects', 'stats', 'losses', 'commits', 'status'])

/** A Cursor home, a data folder, and all processes that use them. `remove` ends and deletes all of these. */
export class Workplace {
  readonly cursor = new CursorHome()
  readonly root = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
  /** The program creates this folder. */
  readonly dataDir = join(this.root, 'cursordex')
  readonly #started: Cursordex[] = []

  get flags(): string[] {
    return ['--cursor-user-dir', this.cursor.userDir, '--data-dir', this.dataDir, '--port', '0']
  }

  start(argv: readonly string[] = ['serve'], options: RunOptions = {}): Cursordex {
    const flags = options.isBare === true ? [] : [...this.flags, ...(options.flags ?? [])]
    const program = new Cursordex([...argv, ...flags], options)
    this.#started.push(program)
    return program
  }

  /** Runs a command until it ends. */
  run(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    if (READING.has(argv[0] ?? '') && !existsSync(this.dataDir)) mkdirSync(this.dataDir, { mode: 0o700 })
    return this.start(argv, options).ended
  }

  /** Starts the daemon and waits for its address. */
  async serve(
    flags: readonly string[] = [],
    options: SpawnOptions = {},
  ): Promise<{ readonly daemon: Cursordex; readonly url: string }> {
    const daemon = this.start(['serve'], { ...options, flags })
    return { daemon, url: await daemon.listening() }
  }

  readDaemonFile(): Readonly<Record<string, unknown>> {
    return JSON.parse(readFileSync(join(this.dataDir, 'daemon.json'), 'utf8')) as Record<string, unknown>
  }

  async remove(): Promise<void> {
    const left = this.#started.filter((program) => !program.hasEnded)
    await Promise.all(left.map((program) => program.stop('SIGKILL')))
    this.cursor.remove()
    rmSync(this.root, { recursive: true, force: true })
  }
}

export async function getJson<Answer>(url: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(`${url}${path}`, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as Answer
}

export const getStatus = (url: string): Promise<Status> => getJson<Status>(url, '/api/status')

/** Waits until the content of all sources is indexed. */
export function untilReady(url: string, withinMs = 60_000): Promise<Status> {
  return untilState(url, 'ready', withinMs)
}

export function untilState(url: string, state: string, withinMs = 60_000): Promise<Status> {
  return waitUntil(
    `the state ${state}`,
    async () => {
      const status = await getStatus(url)
      return status.state === state ? status : null
    },
    { withinMs, everyMs: 30 },
  )
}
