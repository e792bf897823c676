import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))
/** Long, because the machine may be busy. */
const START_LIMIT_MS = 60_000
const READY_LIMIT_MS = 60_000
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
  readonly #child: ChildProcess
  readonly #output: Output
  readonly #removesData: boolean

  private constructor(child: ChildProcess, output: Output, url: string, dataDir: string, removesData: boolean) {
    this.#child = child
    this.#output = output
    this.url = url
    this.dataDir = dataDir
    this.#removesData = removesData
  }

  /** @throws if the program ends, or reports nothing within a minute */
  static async start({ userDirs, dataDir, flags = [] }: StartOptions): Promise<RunningDaemon> {
    const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'cursordex-data-'))
    const folders = userDirs.flatMap((dir) => ['--cursor-user-dir', dir])
    const argv = [bin, 'serve', '--port', '0', '--data-dir', folder, ...folders, ...flags]
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] })
    const output = capture(child)
    try {
      const url = await listeningUrl(child, output)
      return new RunningDaemon(child, output, url, folder, dataDir === undefined)
    } catch (error) {
      child.kill('SIGKILL')
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  get stderr(): string {
    return this.#output.stderr
  }

  get stdout(): string {
    return this.#output.stdout
  }

  async get<T = unknown>(path: string): Promise<T> {
    return this.#ask<T>(path)
  }

  async post<T = unknown>(path: string, body: unknown = {}): Promise<T> {
    const headers = { 'content-type': 'application/json' }
    return this.#ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** Waits until the content of all stores is indexed. */
  async waitReady(): Promise<void> {
    const endMs = Date.now() + READY_LIMIT_MS
    for (;;) {
      const status = await this.get<{ state: string }>('/api/status')
      if (status.state === 'ready') return
      if (Date.now() > endMs) throw new Error(`Not ready: ${JSON.stringify(status)}\n${this.stderr}`)
      await sleep(20)
    }
  }

  /** Ends the program like a user, and removes its data folder. @returns the exit code; null if it had to be killed */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill('SIGTERM')
      const killer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS)
      await ended
      clearTimeout(killer)
    }
    if (this.#removesData) rmSync(this.dataDir, { recursive: true, force: true })
    return this.#child.exitCode
  }

  async #ask<T>(path: string, init?: RequestInit): Promise<T> {
    const response = await fetch(`${this.url}${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${init?.method ?? 'GET'} ${path}: ${response.status} ${text}\n${this.stderr}`)
    return JSON.parse(text) as T
  }
}

interface Output {
  stdout: string
  stderr: string
}

function capture(child: ChildProcess): Output {
  const output: Output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}

async function listeningUrl(child: ChildProcess, output: Output): Promise<string> {
  const endMs = Date.now() + START_LIMIT_MS
  for (;;) {
    const url = /^cursordex listening on (http:\S+)\n/.exec(output.stdout)?.[1]
    if (url !== undefined) return url
    if (child.exitCode !== null || Date.now() > endMs) {
      throw new Error(`No listening daemon (exit code ${child.exitCode}): ${output.stdout}${output.stderr}`)
    }
    await sleep(10)
  }
}
