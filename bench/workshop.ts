import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import { BenchDaemon } from './daemon.ts'
import { makeBenchProjects } from './bench-projects.ts'
import { keepMirror, keepStore, type KeptStore } from './kept-store.ts'
import { LiveWriter } from './live-writer.ts'
import { scaled, type StoreShape } from './make-store.ts'
import { startBareNode } from './processes.ts'

export interface Options {
  readonly shape: StoreShape
  readonly runs: number
  readonly isFresh: boolean
  /** Also take a mirror that other code made. */
  readonly isAnyMirror: boolean
  /** A store with tokens that Cursor recorded. Null for the sample. */
  readonly recordedUserDir: string | null
  /** The program of another checkout, to measure in turns with this one. */
  readonly otherBin: string | null
}

/** What the questions share: the store, temporary folders, and one mirror that is made once. */
export class Workshop {
  readonly runs: number
  readonly recordedUserDir: string | null
  readonly otherBin: string | null
  readonly #options: Options
  readonly #folders: string[] = []
  readonly #daemons: BenchDaemon[] = []
  readonly #writers: LiveWriter[] = []
  readonly #bare: ChildProcess[] = []
  readonly #stores = new Map<number, KeptStore>()
  readonly #dataDirs = new Map<KeptStore, string>()

  constructor(options: Options) {
    this.#options = options
    this.runs = options.runs
    this.recordedUserDir = options.recordedUserDir
    this.otherBin = options.otherBin
  }

  say(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** The requested store, or one with this share of its rows. */
  store(share = 1): KeptStore {
    const { shape, isFresh } = this.#options
    const store = this.#stores.get(share) ?? keepStore(scaled(shape, share), isFresh, (line) => this.say(line))
    this.#stores.set(share, store)
    return store
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'cursordex-bench-data-'))
    this.#folders.push(folder)
    return folder
  }

  /** A daemon on an empty data folder, which must index everything. */
  async startFresh(store = this.store(), bin?: string): Promise<BenchDaemon> {
    const daemon = await BenchDaemon.start([store.userDir], this.folder(), bin)
    this.#daemons.push(daemon)
    return daemon
  }

  /** A daemon on the data folder of an earlier one. */
  async startAgain(dataDir: string, store: KeptStore, bin?: string): Promise<BenchDaemon> {
    const daemon = await BenchDaemon.start([store.userDir], dataDir, bin)
    this.#daemons.push(daemon)
    return daemon
  }

  /** A daemon on a finished mirror, when it is up to date. */
  async startReady(store = this.store()): Promise<BenchDaemon> {
    const dataDir = this.#dataDirs.get(store) ?? this.folder()
    this.#dataDirs.set(store, dataDir)
    const daemon = await this.#start(store, dataDir)
    await daemon.untilReady()
    return daemon
  }

  /** A daemon on the mirror of an earlier run, if the code is the same. A large mirror takes minutes to make. */
  async startKept(): Promise<{ readonly daemon: BenchDaemon; readonly store: KeptStore }> {
    const store = this.store()
    const daemon = await this.#start(store, await this.#keptMirror(store))
    await daemon.untilReady()
    return { daemon, store }
  }

  /** The same with a second `User` folder, on a copy of that mirror: other questions do not see its chats. */
  async startKeptWith(userDir: string): Promise<BenchDaemon> {
    return this.#startOnCopy('page', () => this.#keptMirror(this.store()), [userDir])
  }

  /**
   * This program and the other one, when both have counted all tokens. The other one is older and makes the mirror; this
   * one upgrades a copy of it.
   */
  async startRivals(): Promise<{ readonly own: BenchDaemon; readonly other: BenchDaemon | null }> {
    const { otherBin } = this
    const made = otherBin === null ? null : await this.#keptMirror(this.store(), 'other', otherBin)
    const own = made === null ? (await this.startKept()).daemon : await this.#startOnCopy('upgraded', async () => made)
    const other = made === null || otherBin === null ? null : await this.#start(this.store(), made, [], otherBin)
    await Promise.all([own.untilCounted(), other?.untilCounted()])
    return { own, other }
  }

  /** @param from gives the data folder whose mirror is copied */
  async #startOnCopy(
    kind: string,
    from: () => Promise<string>,
    userDirs: readonly string[] = [],
  ): Promise<BenchDaemon> {
    const store = this.store()
    const { dataDir, isWhole, markWhole } = keepMirror(store, this.#options.isAnyMirror, kind)
    if (!isWhole || this.#options.isFresh) {
      const mirror = openReader(mirrorPath(await from()))
      await mirror.backup(mirrorPath(dataDir))
      mirror.close()
    }
    const daemon = await this.#start(store, dataDir, userDirs)
    await daemon.untilReady()
    markWhole()
    return daemon
  }

  /** @returns a data folder with a finished mirror */
  async #keptMirror(store: KeptStore, kind = 'mirror', bin?: string): Promise<string> {
    const { dataDir, isWhole, markWhole } = keepMirror(store, this.#options.isAnyMirror, kind)
    if (isWhole && !this.#options.isFresh) return dataDir
    this.say(`indexing ${store.shape.messages} messages`)
    const filler = await this.#start(store, dataDir, [], bin)
    await filler.untilReady()
    await filler.stop()
    makeBenchProjects(mirrorPath(dataDir))
    markWhole()
    return dataDir
  }

  async #start(store: KeptStore, dataDir: string, more: readonly string[] = [], bin?: string): Promise<BenchDaemon> {
    const daemon = await BenchDaemon.start([store.userDir, ...more], dataDir, bin)
    this.#daemons.push(daemon)
    return daemon
  }

  /** A program that writes to the store like Cursor, in a chat that already has `before` messages. */
  async startWriter(store = this.store(), before = 0): Promise<LiveWriter> {
    const writer = await LiveWriter.start(store.path, before)
    this.#writers.push(writer)
    return writer
  }

  /** @returns the id of an idle Node process, as the floor for the cost of the daemon */
  startBare(): number {
    const bare = startBareNode()
    this.#bare.push(bare)
    return bare.pid ?? 0
  }

  /** Ends processes that a question left running. */
  async tidy(): Promise<void> {
    for (const bare of this.#bare.splice(0)) bare.kill()
    await Promise.all(this.#writers.splice(0).map((writer) => writer.stop()))
    await Promise.all(this.#daemons.splice(0).map((daemon) => daemon.stop()))
  }

  async remove(): Promise<void> {
    await this.tidy()
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  }
}
