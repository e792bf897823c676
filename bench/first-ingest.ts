import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { familyCpuMs, openMirror, peakDuring, type BenchDaemon } from './daemon.ts'
import { bringIntoMemory, indexPlain, readAndParse } from './floors.ts'
import { bytesOf, median, megabytes, short, table, type Program, type Workshop } from './workshop.ts'

const NEWEST = 1000
/** Counts only up to 1,000, because this runs repeatedly while the daemon works. */
const COUNT_SEARCHABLE = `select count(*) from (select 1 from message_terms_docsize limit ${NEWEST})`
const COUNT_READABLE = 'select coalesce(max(num), 0) from bodies'

/** What is measured, counted from the start of the daemon's process. CPU is that of all threads and processes. */
const lines = [
  ['newest', `newest ${NEWEST} messages searchable, ms`, short],
  ['readable', 'every message readable, ms', short],
  ['searchable', 'every message searchable, ms', short],
  ['cpu', 'CPU until then, ms', short],
  ['memory', 'memory of all processes, at most, MB', megabytes],
  ['mirror', 'mirror then, MB', megabytes],
  ['restart', 'ready after a restart, ms', short],
] as const
type Stages = Record<(typeof lines)[number][0], number>

/**
 * How long it takes until everything can be found. The floors are reading and parsing the same rows, and inserting the
 * same texts into a plain full-text table. With `--against`, another program is measured in turns.
 */
export async function firstIngest(shop: Workshop): Promise<void> {
  const { path } = shop.store()
  const stages = shop.programs.map(() => new Array<Stages>())
  const [parsing, plain]: [number[], number[]] = [[], []]
  for (let run = 0; run < shop.runs; run += 1) {
    bringIntoMemory(path)
    parsing.push(readAndParse(path))
    // The second daemon still sees the disk busy with what the first one wrote, so another one is first in each run.
    const turns = [...shop.programs.entries()]
    for (const [index, program] of run % 2 === 0 ? turns : turns.reverse()) {
      const { dataDir, mirrorPath, ...measured } = await timeProgram(shop, program)
      stages[index]?.push(measured.stages)
      if (index === 0) plain.push(indexPlain(mirrorPath, join(dataDir, 'plain.db')))
    }
  }
  const [own = [], other] = stages
  const rows = lines.map(([key, name, show]) => {
    const [values, others] = [own, other ?? []].map((each) => each.map((found) => found[key]))
    const ratio = median(values ?? []) / median(others ?? [])
    return [
      name,
      show(median(values ?? [])),
      show(median(others ?? [])),
      short(ratio),
      (values ?? []).map(show).join(', '),
    ]
  })
  rows.push(['floor: read and JSON.parse, ms', short(median(parsing)), '', '', parsing.map(short).join(', ')])
  rows.push(['floor: plain FTS5 insert, ms', short(median(plain)), '', '', plain.map(short).join(', ')])
  shop.say(table(['first run', 'this', 'other', 'this / other', 'runs of this'], rows))
}

async function timeProgram(shop: Workshop, { bin }: Program) {
  const store = shop.store()
  bringIntoMemory(store.path)
  // What was written before goes to the disk now.
  spawnSync('sync')
  const daemon = await shop.start(store, shop.folder(), bin)
  const { dataDir, mirrorPath } = daemon
  const [memory, stages] = await peakDuring(daemon.pid, watchStages(daemon, store.shape.messages))
  await daemon.stop()
  const again = await shop.start(store, dataDir, bin)
  await again.untilReady()
  const restart = performance.now() - again.startedAtMs
  await shop.tidy()
  return { dataDir, mirrorPath, stages: { ...stages, memory, restart } }
}

async function watchStages(daemon: BenchDaemon, messages: number): Promise<Stages> {
  const sinceStart = (): number => performance.now() - daemon.startedAtMs
  const stages: Stages = { newest: 0, readable: 0, searchable: 0, cpu: 0, memory: 0, mirror: 0, restart: 0 }
  const mirror = openMirror(daemon.mirrorPath)
  const count = (sql: string): number => mirror.prepare<[], number>(sql).pluck().get() ?? 0
  for (let round = 0; stages.searchable === 0; round += 1) {
    if (stages.newest === 0 && count(COUNT_SEARCHABLE) >= Math.min(NEWEST, messages)) stages.newest = sinceStart()
    if (stages.readable === 0 && count(COUNT_READABLE) >= messages) stages.readable = sinceStart()
    // Asked more seldom, because each answer takes time of the daemon.
    if (round % 5 === 0 && (await daemon.status()).state === 'ready') stages.searchable = sinceStart()
    await sleep(10)
  }
  mirror.close()
  stages.cpu = familyCpuMs(daemon.pid)
  stages.mirror = bytesOf(daemon.mirrorPath)
  return stages
}
