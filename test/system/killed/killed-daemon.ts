// oxlint-disable vitest/no-standalone-expect -- A test runs these phases and checks them.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import type { Chance } from '../../helpers/cursor.ts'
import { readExpected } from '../../helpers/oracle.ts'
import { expectAnswers } from '../../helpers/oracle/compare.ts'
import { Memory } from '../../helpers/oracle/memory.ts'
import { wipeMirror } from '../../helpers/restored-daemon.ts'
import { Writer } from '../../helpers/shapes/writer.ts'
import { getJson, getStatus, Workplace, type Cursordex } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'
import type { Phase, Subject } from './kill-rounds.ts'

const FILLER = 'as long as the answers of an agent are '
const MESSAGES = 50
const LIVE = Array.from({ length: 8 }, (_, at) => `m${at + 1}`)

/** A daemon that follows a store. After each kill its answers are compared with an independent reading of the store. */
export class KilledDaemon implements Subject {
  readonly phases: readonly Phase[]
  readonly #place = new Workplace()
  readonly #writer = new Writer(this.#place.cursor.global())
  readonly #chance: Chance
  #memory = new Memory()
  #daemon: Cursordex | null = null
  #words = 0
  #chats = 0
  #deleted = 0

  constructor(chance: Chance, bulkChats: number) {
    this.#chance = chance
    const { dataDir } = this.#place
    this.#append(bulkChats, 80)
    this.#writer.chat('live', Object.fromEntries(LIVE.map((id) => [id, this.#word()])))
    writeFileSync(this.#config, JSON.stringify({ tokens: { estimate: false }, search: { deadlineMs: 30_000 } }))
    const at = async (act: (url: string) => unknown): Promise<Cursordex> => {
      const { daemon, url } = await this.#running()
      await act(url)
      return daemon
    }
    this.phases = [
      {
        what: 'the first pass',
        lastsMs: 100,
        begin: async () => {
          await this.#end()
          wipeMirror(dataDir)
          // What only the former mirror knew is gone.
          this.#memory = new Memory()
          return at((url) =>
            waitUntil('some messages', async () => ((await getStatus(url)).counts['messages'] ?? 0) > 0, {
              everyMs: 3,
            }),
          )
        },
      },
      {
        what: 'the start',
        lastsMs: 600,
        begin: async () => {
          await this.#end()
          return this.#start()
        },
      },
      { what: 'the reading of new chats', lastsMs: 400, begin: () => at(() => this.#append(20, 5)) },
      { what: 'changes of all sorts', lastsMs: 50, begin: () => at(() => this.#changeAtRandom()) },
      {
        what: 'a comparison of all values',
        lastsMs: 200,
        begin: () => at((url) => void this.#sync(url).catch(() => undefined)),
      },
    ]
  }

  async check(): Promise<void> {
    this.#daemon = null
    this.#expectSound()
    const { url } = await this.#running()
    await this.#sync(url)
    const asker = { get: <Answer>(path: string) => getJson<Answer>(url, path) }
    const said = this.#memory.look(readExpected(this.#place.cursor.globalPath).chats)
    await expectAnswers(asker, said)
    expect(await this.#sync(url)).toMatchObject({ changed: 0, added: 0, gone: 0 })
    // The index has what the mirror has.
    const [word = ''] = /word\d+/.exec(JSON.stringify(said.get('live') ?? [...said.values()])) ?? []
    const { total } = await getJson<{ total: number }>(url, `/api/search?q=${word}&literal=true`)
    expect([word, total > 0]).toEqual([word, true])
  }

  async remove(): Promise<void> {
    this.#writer.close()
    await this.#place.remove()
  }

  get #config(): string {
    return join(this.#place.root, 'config.json')
  }

  #start(): Cursordex {
    this.#daemon = this.#place.start(['serve'], { flags: ['--config', this.#config] })
    return this.#daemon
  }

  /** The daemon that the last check started, or a new one. */
  async #running(): Promise<{ readonly daemon: Cursordex; readonly url: string }> {
    const daemon = this.#daemon ?? this.#start()
    return { daemon, url: await daemon.listening() }
  }

  async #end(): Promise<void> {
    await this.#daemon?.stop()
    this.#daemon = null
  }

  #sync(url: string): Promise<unknown> {
    const headers = { 'content-type': 'application/json' }
    return getJson(url, '/api/sync', { method: 'POST', headers, body: '{"full":true}' })
  }

  /** SQLite's own check of the file that the kill left. */
  #expectSound(): void {
    const path = join(this.#place.dataDir, 'mirror.db')
    if (!existsSync(path)) return
    const mirror = new Database(path)
    try {
      expect(mirror.pragma('integrity_check', { simple: true })).toBe('ok')
    } finally {
      mirror.close()
    }
  }

  #word(): string {
    this.#words += 1
    return `word${this.#words}`
  }

  /** New chats, all in one commit. */
  #append(chats: number, times: number): void {
    this.#writer.atOnce(() => {
      for (let chat = 0; chat < chats; chat += 1) {
        this.#chats += 1
        const texts = Array.from({ length: MESSAGES }, (_, at) => [`m${at + 1}`, FILLER.repeat(times) + this.#word()])
        this.#writer.chat(`chat${this.#chats}`, Object.fromEntries(texts))
      }
    })
  }

  /** What is deleted was read before, and is not written again: so it is known what must be kept. */
  async #changeAtRandom(): Promise<void> {
    const [writer, chance] = [this.#writer, this.#chance]
    for (let steps = chance.between(10, 40); steps > 0; steps -= 1) {
      const [id, word] = [chance.pick(LIVE as readonly string[] as [string]), this.#word()]
      const changes: [() => void, ...(() => void)[]] = [
        () => writer.insert('live', id, word),
        () => writer.upsert('live', id, word),
        () => writer.update('live', id, word),
        () => writer.list('live', LIVE.slice(0, chance.between(1, LIVE.length))),
        () => writer.delete('chat1', `m${(this.#deleted += 1)}`),
      ]
      chance.pick(changes)()
      await pause(chance.between(0, 20))
    }
    writer.insert('live', 'm1', this.#word())
  }
}
