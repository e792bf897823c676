import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { Chance } from '../../fuzz/chance.ts'
import { differences } from '../../fuzz/compare-at-rest.ts'
import { RandomWriter } from '../../fuzz/random-writer.ts'
import { Writer } from '../../helpers/shapes/writer.ts'
import { getJson, Workplace, type Cursordex } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'
import * as checks from './check-mirror.ts'

/**
 * When a round kills. `start`: before the daemon listens. `soon`: a moment later, while it reads. `random`: during all
 * sorts of writes. `append`: while it reads new rows. `backlog`: while many messages are not searchable yet.
 * `sweep`: while values are compared.
 */
export type Kind = 'start' | 'soon' | 'random' | 'append' | 'backlog' | 'sweep'

const otherKinds = ['global-items', 'agent-blobs', 'pasted-text']
const FILLER = 'as long as the answers of an agent are '
const BULK_MESSAGES = 50
/** A comparison of values begins ten seconds after a change, and later on a busy machine. */
const SWEEP_WITHIN_MS = 60_000
const WITHIN_MS = 60_000
const START_WITHIN_MS = 60_000

interface KillOptions {
  readonly seed: number
  /** How many chats of fifty messages the store has at first. */
  readonly bulkChats: number
  /** The program to kill. By default the compiled one. */
  readonly bin?: string
}

/** A store with a writer, and a mirror that one daemon after the other uses. */
export class KilledDaemon {
  readonly place = new Workplace()
  readonly #chance: Chance
  readonly #writer: Writer
  readonly #random: RandomWriter
  readonly #options: KillOptions
  readonly #everHeld = new Set<string>()
  #appended = 0
  #onlyAppended = true
  readonly moments = { firstPass: 0, backlog: 0, sweep: 0 }

  constructor(options: KillOptions) {
    this.#options = options
    this.#chance = new Chance(options.seed)
    const store = this.place.cursor.global()
    this.#writer = new Writer(store)
    const fill = (writer: Writer): void => writer.atOnce(() => this.#fill(writer))
    fill(this.#writer)
    this.#random = new RandomWriter(this.#writer, this.#chance, fill)
    const disabled = Object.fromEntries(otherKinds.map((kind) => [kind, { enabled: false }]))
    writeFileSync(this.#config, JSON.stringify({ sources: disabled }))
  }

  get held(): number {
    return this.#everHeld.size
  }

  /** Starts the daemon, kills it, and checks what it left. @returns the faults */
  async round(kind: Kind): Promise<string[]> {
    if (kind === 'sweep') this.#makeSweepDue()
    const daemon = this.#start()
    try {
      await this.#until(kind, daemon)
    } finally {
      await daemon.stop('SIGKILL')
    }
    return existsSync(this.#mirrorPath) ? this.#check() : []
  }

  /** The last daemon is not killed. @returns the differences after its sync */
  async settle(): Promise<string[]> {
    const daemon = this.#start()
    try {
      const body = { method: 'POST', body: '{"full":true}', headers: { 'content-type': 'application/json' } }
      await getJson(await daemon.listening(START_WITHIN_MS), '/api/sync', body)
    } finally {
      await daemon.stop()
    }
    const left = new checks.LeftMirror(this.#mirrorPath)
    try {
      return [...this.#inside(left.mirror), ...differences(this.#storePath, left.mirror)]
    } finally {
      left.remove()
    }
  }

  async remove(): Promise<void> {
    this.#writer.close()
    await this.place.remove()
  }

  get #config(): string {
    return join(this.place.root, 'config.json')
  }

  get #mirrorPath(): string {
    return join(this.place.dataDir, 'mirror.db')
  }

  get #storePath(): string {
    return this.place.cursor.globalPath
  }

  #start(): Cursordex {
    const flags = ['--config', this.#config]
    const { bin } = this.#options
    return this.place.start(['serve'], { flags, ...(bin === undefined ? {} : { bin }) })
  }

  async #until(kind: Kind, daemon: Cursordex): Promise<void> {
    if (kind === 'start') return pause(this.#chance.below(600))
    await daemon.listening(START_WITHIN_MS)
    if (kind === 'soon' && this.moments.firstPass > 0) return pause(this.#chance.below(500))
    if (kind === 'soon') {
      // After a fixed time a fast machine has ended its first pass, and a slow one has not begun.
      await this.#whileMirror(`select count(*) from messages`, 3000)
      return pause(this.#chance.below(30))
    }
    if (kind === 'random') return this.#writeAtRandom()
    if (kind === 'append') {
      await pause(this.#chance.below(300))
      this.#append(1500)
      await this.#whileMirror(`select count(*) from messages`, WITHIN_MS)
      return pause(this.#chance.below(100))
    }
    if (kind === 'backlog') {
      await this.#untilMirror(
        `select count(watermark) > 0 and not exists (select 1 from unindexed) from sources`,
        WITHIN_MS,
      )
      this.#append(4000)
      await this.#untilMirror(`select exists (select 1 from unindexed)`, WITHIN_MS)
      return pause(this.#chance.below(120))
    }
    await this.#whileMirror(
      `select count(*) + sum(after_rowid) from sweeps where signature is not null`,
      SWEEP_WITHIN_MS,
    )
  }

  /** Changes something, and makes the last comparison of values old. */
  #makeSweepDue(): void {
    this.#append(BULK_MESSAGES)
    if (!existsSync(this.#mirrorPath)) return
    const mirror = new Database(this.#mirrorPath)
    mirror.exec('update sweeps set started_at = 0, ended_at = 0 where signature is null')
    mirror.close()
  }

  async #writeAtRandom(): Promise<void> {
    this.#onlyAppended = false
    for (let steps = 10 + this.#chance.below(30); steps > 0; steps -= 1) {
      this.#random.step()
      await pause(this.#chance.below(30))
    }
  }

  /** Waits until the answer changes, or for this long. */
  async #whileMirror(sql: string, withinMs: number): Promise<void> {
    const endAt = performance.now() + withinMs
    const before = this.#ask(sql)
    while (performance.now() < endAt && this.#ask(sql) === before) await pause(3)
  }

  /** Waits until the answer is true, or for this long. */
  async #untilMirror(sql: string, withinMs: number): Promise<void> {
    const endAt = performance.now() + withinMs
    while (performance.now() < endAt && this.#ask(sql) !== 1) await pause(3)
  }

  #ask(sql: string): unknown {
    const mirror = new Database(this.#mirrorPath, { readonly: true })
    try {
      return mirror.prepare(sql).pluck().get()
    } finally {
      mirror.close()
    }
  }

  #fill(writer: Writer): void {
    for (let chat = 0; chat < this.#options.bulkChats; chat += 1) {
      const words = Array.from({ length: BULK_MESSAGES }, (_, at) => [
        `m${at + 1}`,
        `${FILLER.repeat(160)}bulk${lettersOf(chat * BULK_MESSAGES + at)}`,
      ])
      writer.chat(`bulk${chat}`, Object.fromEntries(words))
    }
  }

  /** New chats, all in one commit. */
  #append(messages: number): void {
    this.#writer.atOnce(() => {
      for (let at = 0; at < messages; at += BULK_MESSAGES) {
        this.#appended += 1
        const words = Array.from({ length: BULK_MESSAGES }, (_, index) => [
          `m${index + 1}`,
          `${FILLER.repeat(5)}new${lettersOf(this.#appended * BULK_MESSAGES + index)}`,
        ])
        this.#writer.chat(`new${this.#appended}`, Object.fromEntries(words))
      }
    })
  }

  #check(): string[] {
    const left = new checks.LeftMirror(this.#mirrorPath)
    try {
      const { mirror, moment } = left
      this.moments.firstPass += Number(moment.isFirstPass)
      this.moments.backlog += Number(moment.isBacklog)
      this.moments.sweep += Number(moment.isSweep)
      const bad = this.#inside(mirror)
      for (const id of checks.heldIds(mirror)) this.#everHeld.add(id)
      if (bad.length > 0) return bad
      // Like a daemon that starts again and gets a sync request.
      syncFully(mirror, this.place.cursor.userDir)
      return [...this.#inside(mirror), ...differences(this.#storePath, mirror)]
    } finally {
      left.remove()
    }
  }

  #inside(mirror: Mirror): string[] {
    const behind = this.#onlyAppended ? checks.leftBehind(mirror, this.#storeRows()) : []
    return [
      ...checks.brokenPages(mirror),
      ...checks.brokenTerms(mirror),
      ...checks.aheadOfRows(mirror),
      ...behind,
      ...checks.lostMessages(mirror, this.#everHeld),
    ]
  }

  #storeRows(): { key: string; rowid: number }[] {
    const store = new Database(this.#storePath, { readonly: true })
    try {
      return store.prepare<[], { key: string; rowid: number }>('select key, rowid from cursorDiskKV').all()
    } finally {
      store.close()
    }
  }
}

function syncFully(mirror: Mirror, userDir: string): void {
  const places = { userDirs: [userDir], homes: [], disabledKinds: otherKinds }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth: 'full' as const }))
  const steps = runPasses(mirror, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
  for (let next = steps.next(); next.done !== true;) next = steps.next()
}

/** A unique word for each number. */
const lettersOf = (number: number): string =>
  Array.from({ length: 5 }, (_, at) => String.fromCharCode(97 + (Math.floor(number / 26 ** at) % 26))).join('')
