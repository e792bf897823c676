import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader, type Mirror } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { cpuMs, familyBytes, peakBytes } from './processes.ts'
import { bringIntoMemory, readAndParse, type Cost } from './read-and-parse.ts'
import { median, megabytes, short, table } from './statistics.ts'
import { indexPlain } from './term-cost.ts'
import type { Workshop } from './workshop.ts'

const NEWEST = 1000

/** Milliseconds since the start of the daemon's process, and what it took. */
interface Stages {
  listening: number
  newestSearchable: number
  readable: number
  searchable: number
  /** Of all threads, until all messages are searchable. */
  cpuMs: number
  peakBytes: number
  /** The mirror with its WAL, at most and when all messages are searchable. */
  largestBytes: number
  finalBytes: number
}

interface Round {
  readonly parsing: Cost
  readonly plain: Cost
  readonly own: Stages
  readonly other: Stages | null
}

/**
 * How long it takes until everything can be found. The floors are reading and parsing the same rows, and inserting the
 * same texts into a plain full-text table. With `--against`, another program is measured in turns.
 */
export async function firstIngest(shop: Workshop): Promise<void> {
  const store = shop.store()
  const rounds: Round[] = []
  for (let run = 0; run < shop.runs; run += 1) {
    bringIntoMemory(store.path)
    const parsing = readAndParse(store.path)
    // The second of two daemons still sees the disk busy with what the first one wrote, so they take turns.
    const isOtherFirst = run % 2 === 0
    const otherOf = async (): Promise<Stages | null> =>
      shop.otherBin === null ? null : (await timeDaemon(shop, shop.otherBin)).stages
    const before = isOtherFirst ? await otherOf() : null
    const { stages, path } = await timeDaemon(shop)
    const other = isOtherFirst ? before : await otherOf()
    rounds.push({ parsing, plain: indexPlain(path, shop), own: stages, other })
  }
  const parsingMs = median(rounds.map(({ parsing }) => parsing.wallMs))
  const plainMs = median(rounds.map(({ plain }) => plain.wallMs))
  const line = (what: string, pick: (stages: Stages) => number, show: (value: number) => string): string[] => {
    const own = rounds.map((round) => pick(round.own))
    const others = rounds.flatMap(({ other }) => (other === null ? [] : [pick(other)]))
    return [
      what,
      show(median(own)),
      show(median(others)),
      short(median(own) / median(others)),
      own.map(show).join(', '),
    ]
  }
  const time = (what: string, pick: (stages: Stages) => number): string[] => {
    const [, own = '', ...rest] = line(what, pick, short)
    const floors = `${short(Number(own) / parsingMs)}x, ${short(Number(own) / plainMs)}x`
    return [what, own, floors, ...rest]
  }
  const size = (what: string, pick: (stages: Stages) => number): string[] => {
    const [, own = '', ...rest] = line(what, pick, megabytes)
    return [what, own, '', ...rest]
  }
  shop.say(
    table(
      ['first run', 'this: ms, MB', 'x parsing, x plain insert', 'other', 'this / other', 'runs'],
      [
        ['floor: read and JSON.parse, wall', short(parsingMs)],
        ['floor: plain FTS5 insert, wall', short(plainMs)],
        time('listening', ({ listening }) => listening),
        time(`newest ${NEWEST} messages searchable`, ({ newestSearchable }) => newestSearchable),
        time('every message readable', ({ readable }) => readable),
        time('every message searchable (ready)', ({ searchable }) => searchable),
        time('CPU of all threads until ready', ({ cpuMs: cpu }) => cpu),
        size('peak of memory, all processes', ({ peakBytes: bytes }) => bytes),
        size('mirror when ready', ({ finalBytes }) => finalBytes),
        size('mirror at most', ({ largestBytes }) => largestBytes),
      ],
    ),
  )
}

async function timeDaemon(shop: Workshop, bin?: string): Promise<{ readonly stages: Stages; readonly path: string }> {
  bringIntoMemory(shop.store().path)
  // What was written before goes to the disk now.
  spawnSync('sync')
  const daemon = await shop.startFresh(shop.store(), bin)
  const path = mirrorPath(daemon.dataDir)
  const mirror = openReader(path)
  try {
    return { stages: await watchStages(daemon, mirror, shop.store().shape.messages), path }
  } finally {
    mirror.close()
    await shop.tidy()
  }
}

const COUNT_READABLE = `select coalesce(max(num), 0) from bodies`
/** Counts only up to 1,000, because this runs repeatedly while the daemon works. */
const COUNT_SEARCHABLE = `select count(*) from (select 1 from message_terms_docsize limit ${NEWEST})`

async function watchStages(daemon: BenchDaemon, mirror: Mirror, messages: number): Promise<Stages> {
  const sinceStart = (): number => performance.now() - daemon.startedAtMs
  const stages: Stages = {
    listening: sinceStart(),
    newestSearchable: 0,
    readable: 0,
    searchable: 0,
    cpuMs: 0,
    peakBytes: 0,
    largestBytes: 0,
    finalBytes: 0,
  }
  const count = (sql: string): number => mirror.prepare<[], number>(sql).pluck().get() ?? 0
  let nextStatusMs = 0
  while (stages.searchable === 0) {
    if (stages.newestSearchable === 0 && count(COUNT_SEARCHABLE) >= Math.min(NEWEST, messages)) {
      stages.newestSearchable = sinceStart()
    }
    if (stages.readable === 0 && count(COUNT_READABLE) >= messages) stages.readable = sinceStart()
    if (sinceStart() >= nextStatusMs) {
      nextStatusMs = sinceStart() + 50
      stages.finalBytes = sizeOf(mirrorPath(daemon.dataDir))
      stages.largestBytes = Math.max(stages.largestBytes, stages.finalBytes)
      stages.peakBytes = Math.max(stages.peakBytes, familyBytes(daemon.pid))
      if ((await daemon.status()).state === 'ready') stages.searchable = sinceStart()
    }
    await sleep(10)
  }
  stages.cpuMs = cpuMs(daemon.pid)
  stages.peakBytes = Math.max(stages.peakBytes, peakBytes(daemon.pid))
  return { ...stages, readable: stages.readable === 0 ? stages.searchable : stages.readable }
}

const sizeOf = (path: string): number =>
  [path, `${path}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0)
