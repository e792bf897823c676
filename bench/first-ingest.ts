import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { runPasses } from '../src/engine/writer/run-passes.ts'
import { discoverSources } from '../src/indexer/discover.ts'
import { openReader, openWriter, type Mirror } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { bringIntoMemory, costOf, readAndParse, type Cost } from './read-and-parse.ts'
import { median, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const NEWEST = 1000

/** Milliseconds from the start of the daemon's process. */
interface Stages {
  listening: number
  newestSearchable: number
  readable: number
  searchable: number
}

interface Round extends Stages {
  readonly floor: Cost
  readonly inProcess: Cost
}

/** How long until everything is found, against reading and parsing the same rows. */
export async function firstIngest(shop: Workshop): Promise<void> {
  const store = shop.store()
  const rounds: Round[] = []
  for (let run = 0; run < shop.runs; run += 1) {
    bringIntoMemory(store.path)
    const floor = readAndParse(store.path)
    bringIntoMemory(store.path)
    const stages = await timeDaemon(shop)
    bringIntoMemory(store.path)
    rounds.push({ ...stages, floor, inProcess: ingestHere(store.userDir, shop.folder()) })
  }
  const floorMs = median(rounds.map(({ floor }) => floor.wallMs))
  const floorCpuMs = median(rounds.map(({ floor }) => floor.cpuMs))
  const line = (what: string, pick: (round: Round) => number, floor = floorMs): string[] => {
    const times = rounds.map(pick)
    return [what, short(median(times)), short(median(times) / floor), times.map(short).join(', ')]
  }
  shop.say(
    table(
      ['first ingest', 'median ms', 'x floor', 'runs'],
      [
        line('floor: read and JSON.parse, wall', ({ floor }) => floor.wallMs),
        line('floor: CPU', ({ floor }) => floor.cpuMs, floorCpuMs),
        line('daemon: listening', ({ listening }) => listening),
        line(`daemon: newest ${NEWEST} messages searchable`, ({ newestSearchable }) => newestSearchable),
        line('daemon: every message readable', ({ readable }) => readable),
        line('daemon: every message searchable (ready)', ({ searchable }) => searchable),
        line('in one process, no HTTP: wall', ({ inProcess }) => inProcess.wallMs),
        line('in one process, no HTTP: CPU', ({ inProcess }) => inProcess.cpuMs, floorCpuMs),
      ],
    ),
  )
}

async function timeDaemon(shop: Workshop): Promise<Stages> {
  const daemon = await shop.startFresh()
  const mirror = openReader(mirrorPath(daemon.dataDir))
  try {
    return await watchStages(daemon, mirror, shop.store().shape.messages)
  } finally {
    mirror.close()
    await shop.tidy()
  }
}

const COUNT_READABLE = `select coalesce(max(num), 0) from bodies`
/** Counted to 1,000 only: this is asked again and again while the daemon works. */
const COUNT_SEARCHABLE = `select count(*) from (select 1 from message_terms_docsize limit ${NEWEST})`

async function watchStages(daemon: BenchDaemon, mirror: Mirror, messages: number): Promise<Stages> {
  const sinceStart = (): number => performance.now() - daemon.startedAtMs
  const stages = { listening: sinceStart(), newestSearchable: 0, readable: 0, searchable: 0 }
  const count = (sql: string): number => mirror.prepare<[], number>(sql).pluck().get() ?? 0
  let nextStatusMs = 0
  while (stages.searchable === 0) {
    if (stages.newestSearchable === 0 && count(COUNT_SEARCHABLE) >= Math.min(NEWEST, messages)) {
      stages.newestSearchable = sinceStart()
    }
    if (stages.readable === 0 && count(COUNT_READABLE) >= messages) stages.readable = sinceStart()
    if (sinceStart() >= nextStatusMs) {
      nextStatusMs = sinceStart() + 50
      if ((await daemon.status()).state === 'ready') stages.searchable = sinceStart()
    }
    await sleep(10)
  }
  return { ...stages, readable: stages.readable === 0 ? stages.searchable : stages.readable }
}

/** The same work without threads and HTTP, for what it costs in CPU. */
function ingestHere(userDir: string, folder: string): Cost {
  const mirror = openWriter(join(folder, 'mirror.db'))
  try {
    return costOf(() => {
      const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
      const sources = discoverSources(places).map(({ id }) => ({ id, depth: 'reconcile' as const }))
      const run = runPasses(mirror, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
      while (run.next().done !== true);
    })
  } finally {
    mirror.close()
  }
}
