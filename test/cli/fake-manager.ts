import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, type Run } from './fake-world.ts'

/**
 * A home with tools on its PATH that write down how they were called. The tools that start a service copy a prepared
 * `daemon.json`, whose daemon is a server in this process.
 */
export class FakeManager {
  readonly root = mkdtempSync(join(tmpdir(), 'cursordex-service-'))
  readonly dataDir = join(this.root, '.local', 'share', 'cursordex')
  readonly unit = join(this.root, '.config', 'systemd', 'user', 'cursordex.service')
  url = ''
  #server: Server | null = null

  constructor() {
    mkdirSync(join(this.root, 'bin'))
    mkdirSync(this.dataDir, { recursive: true })
    this.tool('systemctl', [
      `case "$*" in`,
      `  *is-active*) [ "$(cat "${this.#file('state')}" 2>/dev/null)" = active ]; exit ;;`,
      `  *) [ ! -e "${this.#file('no-manager')}" ] || exit 1 ;;`,
      `esac`,
      `case "$*" in`,
      `  *disable*) rm -f "${this.#file('state')}" "${join(this.dataDir, 'daemon.json')}" ;;`,
      `  *--now*|*restart*) cp "${this.#file('next-state')}" "${this.#file('state')}"`,
      `    cp "${this.#file('next.json')}" "${join(this.dataDir, 'daemon.json')}" 2>/dev/null || true ;;`,
      `esac`,
    ])
    this.tool('journalctl', [])
  }

  /** Replaces a tool. Every call is written down first. */
  tool(name: string, lines: readonly string[]): void {
    const text = ['#!/bin/sh', `echo "${name} $*" >> "${this.#file('calls')}"`, ...lines, ''].join('\n')
    writeFileSync(join(this.root, 'bin', name), text, { mode: 0o755 })
  }

  async open(): Promise<void> {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok","version":"1.2.3"}')
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening')
    this.#server = server
    this.url = `http://127.0.0.1:${address.port}`
    this.willStart(process.pid)
  }

  /** What the next start of the service does. */
  willStart(pid: number, version = '1.2.3'): void {
    writeFileSync(this.#file('next.json'), this.#daemonFile(pid, version))
    writeFileSync(this.#file('next-state'), 'active')
  }

  willFail(): void {
    rmSync(this.#file('next.json'))
    writeFileSync(this.#file('next-state'), 'failed')
  }

  /** A daemon that was started by hand. */
  runByHand(): void {
    writeFileSync(join(this.dataDir, 'daemon.json'), this.#daemonFile(process.pid, '1.2.3'))
  }

  hasNoManager(): void {
    writeFileSync(this.#file('no-manager'), '')
  }

  run(...argv: readonly string[]): Promise<Run> {
    return this.runOn('linux', ...argv)
  }

  runOn(platform: NodeJS.Platform, ...argv: readonly string[]): Promise<Run> {
    const env = { PATH: `${join(this.root, 'bin')}:/usr/bin:/bin` }
    return run(['service', ...argv], undefined, { env, platform, homeDir: this.root, workingDir: this.root })
  }

  /** The calls that change something, since the last question. */
  changes(): string[] {
    const calls = existsSync(this.#file('calls')) ? readFileSync(this.#file('calls'), 'utf8').split('\n') : []
    rmSync(this.#file('calls'), { force: true })
    return calls.filter((call) => call !== '' && !call.includes('is-active'))
  }

  async remove(): Promise<void> {
    await new Promise((resolve) => {
      if (this.#server === null) resolve(null)
      else this.#server.close(resolve)
      this.#server?.closeAllConnections()
    })
    rmSync(this.root, { recursive: true, force: true })
  }

  #file(name: string): string {
    return join(this.root, name)
  }

  #daemonFile(pid: number, version: string): string {
    return JSON.stringify({ pid, url: this.url, version })
  }
}
