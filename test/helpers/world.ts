import { mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/api/http/app.ts'
import { mirrorPath } from '../../src/engine/data-folder.ts'
import { openCommandEngine, type CommandEngine } from '../../src/engine/command.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { loadSettings, type Flags, type Settings } from '../../src/settings.ts'
import { CursorHome } from './cursor.ts'
import { executorHere, threadsHere } from './engine-here.ts'

const HOST = '127.0.0.1:4870'

interface Plan {
  readonly home?: CursorHome
  /** An existing data folder, which stays. By default a new one, which is removed at the end. */
  readonly dataDir?: string
  /** The text of the config file, as an object. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly flags?: Flags
}

interface Listed<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

/**
 * The product in the test's own process: a Cursor, a data folder, the engine, and the HTTP app over it. It reads Cursor
 * only when a test says so. `request` is what a program on the machine sends.
 *
 *     const world = await World.open()
 *     world.home.global().chat('a', { … })
 *     await world.sync()
 *     await world.get('/api/chats')
 */
export class World {
  readonly home: CursorHome
  /** Cursor's home folder, `.cursor`. */
  readonly cursorHome: string
  readonly settings: Settings
  readonly #removesData: boolean
  #command!: CommandEngine
  #app!: ReturnType<typeof createApp>

  private constructor({ home = new CursorHome(), dataDir, config = {}, flags = {} }: Plan) {
    this.home = home
    this.cursorHome = join(home.root, '.cursor')
    this.#removesData = dataDir === undefined
    this.settings = loadSettings({
      flags: {
        dataDir: dataDir ?? mkdtempSync(join(tmpdir(), 'cursordex-world-')),
        cursorUserDir: [home.userDir],
        cursorHome: [this.cursorHome],
        ...flags,
      },
      configText: JSON.stringify({ search: { deadlineMs: 30_000 }, ...config }),
      env: {},
      platform: 'linux',
      homeDir: homedir(),
    })
  }

  /** Opens the engine. Nothing of Cursor is read yet. */
  static async open(plan: Plan = {}): Promise<World> {
    const world = new World(plan)
    await world.#open()
    return world
  }

  /** What the daemon's clock drives. */
  get engine(): Engine {
    return this.#command.engine
  }

  /** For what no door answers. */
  get mirror(): Mirror {
    return this.#command.reader.open()
  }

  get mirrorPath(): string {
    return mirrorPath(this.settings.dataDir)
  }

  /** Reads Cursor. @param full compares every value, and what is gone */
  async sync(full = false): Promise<void> {
    this.home.close()
    await this.post('/api/sync', { full })
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has('host')) headers.set('host', HOST)
    const response = await this.#app.request(`http://${HOST}${path}`, { ...init, headers })
    // A test may replace the files now.
    await this.#command.onDemand.close()
    return response
  }

  /** @throws for an answer that is not 2xx */
  async get<T = unknown>(path: string): Promise<T> {
    return this.#json<T>(path, {})
  }

  async post<T = unknown>(path: string, body: unknown = {}): Promise<T> {
    const headers = { 'content-type': 'application/json' }
    return this.#json<T>(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** `[id, position, first text]` of a chat's messages, orphans last. */
  async thread(chat: string): Promise<(readonly [string, number | null, string])[]> {
    interface Message {
      readonly id: string
      readonly position: number | null
      readonly parts: readonly { readonly text?: string }[]
    }
    const path = `/api/chats/${encodeURIComponent(chat)}/messages?limit=200&includeOrphans=true`
    const { items, total } = await this.get<Listed<Message>>(path)
    if (items.length < total) throw new Error(`the chat ${chat} has more messages than a page`)
    return items.map(({ id, position, parts }) => [id, position, parts[0]?.text ?? ''])
  }

  /** The losses, newest first: `<kind> <chat> <message>`. */
  async losses(): Promise<string[]> {
    interface Loss {
      readonly kind: string
      readonly chatId: string
      readonly messageId: string | null
    }
    const { items } = await this.get<Listed<Loss>>('/api/losses?limit=200')
    return items.map(({ kind, chatId, messageId }) => [kind, chatId, messageId ?? ''].join(' ').trim())
  }

  /** The chats of the messages that a search finds, the best first. */
  async found(q: string): Promise<string[]> {
    const path = `/api/search?limit=200&q=${encodeURIComponent(q)}`
    const { items } = await this.get<Listed<{ readonly message: { readonly chatId: string } }>>(path)
    return items.map(({ message }) => message.chatId)
  }

  /** Closes the engine and opens it again, like a restart of the program. @param meanwhile acts while nothing is open */
  async restart(meanwhile: () => void = () => undefined): Promise<void> {
    await this.#close()
    meanwhile()
    await this.#open()
  }

  /** Ends it without Cursor, which another world has too. */
  async close(): Promise<void> {
    await this.#close()
    if (this.#removesData) rmSync(this.settings.dataDir, { recursive: true, force: true })
  }

  async remove(): Promise<void> {
    await this.close()
    this.home.remove()
  }

  async #open(): Promise<void> {
    const { settings } = this
    const path = this.mirrorPath
    const command = openCommandEngine(settings, {
      version: '1.2.3',
      zone: () => 'UTC',
      note: () => undefined,
      threads: threadsHere,
      executor: (mirror, reader) => executorHere(mirror, () => reader.open()),
    })
    this.#command = command
    await command.onDemand.index.follow()
    await command.onDemand.close()
    const served = command.engine.api({
      access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
      live: () => ({
        state: command.reasons.length > 0 ? 'degraded' : 'ready',
        reasons: command.reasons,
        uptimeMs: 5,
        progress: null,
        resources: { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4 },
        lagMs: null,
        mirrorPath: path,
      }),
      subscribe: () => () => undefined,
    })
    this.#app = createApp(served)
  }

  async #close(): Promise<void> {
    await this.#command.close()
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.request(path, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as T
  }
}
