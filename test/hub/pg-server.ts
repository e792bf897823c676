import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type QueryResultRow } from 'pg'

const DEBIAN = '/usr/lib/postgresql'

/** The folder of the newest server that is installed. */
function binFolder(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folder = versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'postgres')))
  if (folder === undefined) throw new Error('no PostgreSQL is installed; on Debian: apt-get install postgresql')
  return folder
}

/** PostgreSQL refuses to run as root: it then runs as the user that its package made. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A PostgreSQL of its own, in a temporary folder, on a free port of this machine. */
export class PgServer {
  readonly folder: string
  readonly port: number
  #child: ChildProcess | null = null

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  static async start(options: readonly string[] = []): Promise<PgServer> {
    const folder = mkdtempSync(join(tmpdir(), 'cursordex-pg-'))
    chmodSync(folder, 0o700)
    const { uid, gid } = account()
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
    const server = new PgServer(folder, await freePort())
    const argv = ['-D', server.data, '-U', 'admin', '-A', 'trust', '-N', '-E', 'UTF8', '--locale=C.UTF-8']
    execFileSync(join(binFolder(), 'initdb'), argv, { stdio: 'pipe', cwd: '/', ...account() })
    await server.run(options)
    return server
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  async run(options: readonly string[] = []): Promise<void> {
    const quick = [
      'fsync=off',
      'full_page_writes=off',
      'synchronous_commit=off',
      'autovacuum=off',
      'max_connections=40',
    ]
    const flags = [...quick, `unix_socket_directories=${this.folder}`, `port=${this.port}`, ...options]
    const argv = ['-D', this.data, ...flags.flatMap((flag) => ['-c', flag])]
    const child = spawn(join(binFolder(), 'postgres'), argv, {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: '/',
      ...account(),
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)))
    this.#child = child
    for (let tries = 0; tries < 200; tries += 1) {
      if (child.exitCode !== null) throw new Error(`the server ended: ${said}`)
      try {
        await this.sql('select 1')
        return
      } catch {
        await sleep(50)
      }
    }
    throw new Error(`the server does not answer: ${said}`)
  }

  /** Makes an empty database. */
  async database(name: string): Promise<string> {
    await this.sql(`drop database if exists ${name} with (force)`)
    await this.sql(`create database ${name}`)
    return this.url(name)
  }

  url(database = 'postgres', user = 'admin'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`
  }

  async sql<Row extends QueryResultRow>(text: string, url: string = this.url()): Promise<Row[]> {
    const client = new Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
