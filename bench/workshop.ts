import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BenchDaemon, mirrorIn } from './daemon.ts'
import { LiveWriter } from './live-writer.ts'
import { makeStore, scaled, type StoreShape } from './make-store.ts'

/** Stores stay here between runs, because making a large one takes longer than measuring it. */
export const keptFolder = join(tmpdir(), 'cursordex-bench')

export const ownBin = fileURLToPath(new URL('../cli/bin.js', import.meta.url))

export interface KeptStore {
  readonly shape: StoreShape
  /** Cursor's `User` folder. */
  readonly userDir: string
  /** Path of the database in it. */
  readonly path: string
}

/** This program, or the one of another checkout. */
export interface Program {
  readonly name: 'this' | 'other'
  readonly bin: string
}

/** What the measures share: stores, folders and processes that are removed at the end, and printing. */
export class Workshop {
  readonly runs: number
  readonly programs: readonly Program[]
  readonly #shape: StoreShape
  readonly #folders: string[] = []
  readonly #daemons: BenchDaemon[] = []
  readonly #writers: LiveWriter[] = []
  readonly #mirrors = new Map<string, string>()

  /** @param otherBin the program of another checkout, to measure in turns with this one */
  constructor(shape: StoreShape, runs: number, otherBin: string | null) {
    this.runs = runs
    this.#shape = shape
    this.programs = [
      { name: 'this', bin: ownBin },
      ...(otherBin === null ? [] : [{ name: 'other', bin: otherBin } as const]),
    ]
  }

  say(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** The requested store, or one with this share of its rows. It is from an earlier run if its code was the same. */
  store(share = 1): KeptStore {
    const shape = scaled(this.#shape, share)
    const hash = createHash('sha256').update(JSON.stringify(shape))
    // The sources of the code that makes it, seen from the bundle in .bench/dist/bench.
    for (const name of ['make-store.ts', 'words.ts']) {
      hash.update(readFileSync(new URL(`../../../bench/${name}`, import.meta.url)))
    }
    const folder = join(keptFolder, `store-${hash.digest('hex').slice(0, 12)}`)
    const userDir = join(folder, 'Cursor', 'User')
    const whole = join(folder, 'whole')
    if (!existsSync(whole)) {
      this.say(`making a store of ${shape.messages} messages in ${shape.chats} chats`)
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      makeStore(folder, shape)
      writeFileSync(whole, '')
    }
    return { shape, userDir, path: join(userDir, 'globalStorage', 'state.vscdb') }
  }

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'cursordex-bench-data-'))
    this.#folders.push(folder)
    return folder
  }

  /** A daemon on a data folder. On an empty one, the default, it must index everything. */
  async start(store = this.store(), dataDir = this.folder(), bin = ownBin): Promise<BenchDaemon> {
    const daemon = await BenchDaemon.start(bin, store.userDir, dataDir)
    this.#daemons.push(daemon)
    return daemon
  }

  /** A daemon on a finished mirror, when it is up to date. Measures that only ask share the mirror. */
  async startReady(store = this.store()): Promise<BenchDaemon> {
    const dataDir = this.#mirrors.get(store.path) ?? this.folder()
    this.#mirrors.set(store.path, dataDir)
    const daemon = await this.start(store, dataDir)
    await daemon.untilReady()
    return daemon
  }

  /**
   * Each program on a mirror with the same content. The other program is older: it makes the mirror, and this one upgrades
   * a copy.
   */
  async startRivals(): Promise<readonly (Program & { readonly daemon: BenchDaemon })[]> {
    const made = this.folder()
    const maker = await this.start(this.store(), made, this.programs.at(-1)?.bin)
    await maker.untilReady()
    await maker.stop()
    const rivals = []
    for (const program of this.programs) {
      const dataDir = this.folder()
      copyFileSync(mirrorIn(made), mirrorIn(dataDir))
      rivals.push({ ...program, daemon: await this.start(this.store(), dataDir, program.bin) })
    }
    for (const { daemon } of rivals) await daemon.untilReady()
    return rivals
  }

  /** Plays Cursor in the store, in a chat that already has messages. */
  startWriter(store: KeptStore, length = 0, contentOf = (index: number): object => ({ text: `Message ${index}.` })) {
    const writer = new LiveWriter(store.path, length, (index) => ({ ...contentOf(index) }))
    this.#writers.push(writer)
    return writer
  }

  /** Ends what a measure left running. */
  async tidy(): Promise<void> {
    for (const writer of this.#writers.splice(0)) writer.close()
    await Promise.all(this.#daemons.splice(0).map((daemon) => daemon.stop()))
  }

  async remove(): Promise<void> {
    await this.tidy()
    for (const folder of this.#folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  }
}

/** Bytes of a database with its WAL. */
export const bytesOf = (path: string): number =>
  [path, `${path}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0)

/**
 * Times each act with each item, in turns, so that all run under the same conditions. Each runs twice, and the second run
 * counts: the first brings pages and processes into memory.
 * @returns milliseconds by act
 */
export async function timeInTurns<Item>(
  items: readonly Item[],
  acts: readonly ((item: Item) => unknown)[],
): Promise<readonly (readonly number[])[]> {
  const times = acts.map(() => new Array<number>())
  for (const item of items) {
    for (const [index, act] of acts.entries()) {
      await act(item)
      const startedAtMs = performance.now()
      await act(item)
      times[index]?.push(performance.now() - startedAtMs)
    }
  }
  return times
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 50)

/** The percentile: the smallest value that so many percent of the values do not exceed. NaN without values. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Three significant digits, or more if there are more before the decimal point. */
export function short(number: number): string {
  if (!Number.isFinite(number)) return '-'
  const size = Math.abs(number)
  return number.toFixed(size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 0.01 ? 2 : 4)
}

export const megabytes = (bytes: number): string => short(bytes / 1e6)

/** The median and the 95th percentile, as two cells. */
export const p50and95 = (times: readonly number[]): string[] => [short(median(times)), short(percentile(times, 95))]

/** A Markdown table with aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], fill = ' '): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`
  return [line(head), line([], '-'), ...rows.map((row) => line(row))].join('\n')
}
