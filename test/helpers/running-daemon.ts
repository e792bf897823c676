import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cursordex, getJson, untilReady } from './spawn-cursordex.ts'

const STOP_LIMIT_MS = 30_000

interface StartOptions {
  readonly userDirs: readonly string[]
  /** The program's data folder; a temporary one by default, which is removed at the end. */
  readonly dataDir?: string
  readonly flags?: readonly string[]
}

/** The compiled program as a separate, serving process. */
export class RunningDaemon {
  readonly url: string
  readonly dataDir: string
  readonly #program: Cursordex
  readonly #removesData: boolean

  private constructor(program: Cursordex, url: string, dataDir: string, removesData: boolean) {
    this.#program = program
    this.url = url
    this.dataDir = dataDir
    this.#removesData = removesData
  }

  /** @throws if the program ends, or reports nothing within a minute */
  static async start({ userDirs, dataDir, flags = [] }: StartOptions): Promise<RunningDaemon> {
    const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'cursordex-data-'))
    const folders = userDirs.flatMap((dir) => ['--cursor-user-dir', dir])
    const program = new Cursordex(['serve', '--port', '0', '--data-dir', folder, ...folders, ...flags])
    try {
      return new RunningDaemon(program, await program.listening(), folder, dataDir === undefined)
    } catch (error) {
      program.signal('SIGKILL')
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  get stderr(): string {
    return this.#program.stderr
  }

  get stdout(): string {
    return this.#program.stdout
  }

  get<T = unknown>(path: string): Promise<T> {
    return getJson<T>(this.url, path)
  }

  post<T = unknown>(path: string, body: unknown = {}): Promise<T> {
    const headers = { 'content-type': 'application/json' }
    return getJson<T>(this.url, path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** Waits until the content of all stores is indexed. */
  async waitReady(): Promise<void> {
    await untilReady(this.url)
  }

  /** Ends the program like a user, and removes its data folder. @returns the exit code; null if it had to be killed */
  async stop(): Promise<number | null> {
    const killer = setTimeout(() => this.#program.signal('SIGKILL'), STOP_LIMIT_MS)
    const { exitCode } = await this.#program.stop()
    clearTimeout(killer)
    if (this.#removesData) rmSync(this.dataDir, { recursive: true, force: true })
    return exitCode
  }
}
