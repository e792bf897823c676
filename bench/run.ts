import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from '../src/sqlite.ts'
import { archive } from './archive.ts'
import { bytesRead } from './bytes-read.ts'
import { commitToHit } from './commit-to-hit.ts'
import { firstIngest } from './first-ingest.ts'
import { idleCpu } from './idle-cpu.ts'
import { keptFolder } from './kept-store.ts'
import { largeStore } from './large-store.ts'
import { leastWork } from './least-work.ts'
import { longChat } from './long-chat.ts'
import { AGENTS, LARGE, MANY, scaled } from './make-store.ts'
import { memory } from './memory.ts'
import { mirrorSize } from './mirror-size.ts'
import { page } from './page.ts'
import { relatedLatency } from './related-latency.ts'
import { restore } from './restore.ts'
import { searchIdle } from './search-idle.ts'
import { searchLatency } from './search-latency.ts'
import { statsLatency } from './stats-latency.ts'
import { short } from './statistics.ts'
import { suggestLatency } from './suggest-latency.ts'
import { termCost } from './term-cost.ts'
import { tokenEstimates } from './token-estimates.ts'
import { Workshop, type Options } from './workshop.ts'

const LARGE_GB = 1.5

const questions: ReadonlyMap<string, (shop: Workshop) => Promise<void>> = new Map([
  ['first-ingest', firstIngest],
  ['least-work', leastWork],
  ['term-cost', termCost],
  ['memory', memory],
  ['bytes-read', bytesRead],
  ['commit-to-hit', commitToHit],
  ['long-chat', longChat],
  ['search-latency', searchLatency],
  ['search-idle', searchIdle],
  ['related-latency', relatedLatency],
  ['suggest-latency', suggestLatency],
  ['stats-latency', statsLatency],
  ['page', page],
  ['large-store', largeStore],
  ['idle-cpu', idleCpu],
  ['mirror-size', mirrorSize],
  ['token-estimates', tokenEstimates],
  ['archive', archive],
  ['restore', restore],
])

const USAGE = `npm run bench -- [--gb 1.5 | --messages 500000] [--agents] [--only <question>]... [--runs 3] [--fresh] [--any-mirror] [--against <another built checkout>] [--user-dir <Cursor's User folder with recorded tokens>]
questions: ${[...questions.keys()].join(', ')}`

const flags = {
  gb: { type: 'string' },
  messages: { type: 'string' },
  agents: { type: 'boolean' },
  against: { type: 'string' },
  only: { type: 'string', multiple: true },
  runs: { type: 'string' },
  fresh: { type: 'boolean' },
  'any-mirror': { type: 'boolean' },
  'user-dir': { type: 'string' },
  help: { type: 'boolean' },
} as const

function readArguments(): { readonly options: Options; readonly names: readonly string[] } {
  const { values } = parseArgs({ options: flags })
  if (values.help === true) throw new Error('help was asked for')
  const { gb, messages, only, runs } = values
  if (gb !== undefined && messages !== undefined) throw new Error('--gb and --messages are two shapes: choose one')
  const unknown = only?.find((name) => !questions.has(name))
  if (unknown !== undefined) throw new Error(`unknown question: ${unknown}`)
  const shape =
    messages === undefined
      ? scaled(values.agents === true ? AGENTS : LARGE, positive('--gb', gb ?? LARGE_GB) / LARGE_GB)
      : scaled(MANY, positive('--messages', messages) / MANY.messages)
  const recordedUserDir = values['user-dir'] ?? null
  const options = {
    shape,
    runs: Math.ceil(positive('--runs', runs ?? 3)),
    isFresh: values.fresh ?? false,
    isAnyMirror: values['any-mirror'] ?? false,
    recordedUserDir,
    otherBin: values.against === undefined ? null : join(values.against, 'dist', 'cli', 'bin.js'),
  }
  return { options, names: only ?? [...questions.keys()] }
}

function positive(flag: string, value: string | number): number {
  const number = Number(value)
  if (Number.isFinite(number) && number > 0) return number
  throw new Error(`${flag} must be a number above 0`)
}

function describeMachine(): string {
  const db = new Database(':memory:')
  const sqlite = db.prepare<[], string>('select sqlite_version()').pluck().get()
  db.close()
  const memoryGb = short(totalmem() / 1e9)
  const cores = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'})`
  return `${cores}, ${memoryGb} GB, ${process.platform} ${process.arch}, Node ${process.versions.node}, SQLite ${sqlite}`
}

async function run(): Promise<void> {
  const { options, names } = readArguments()
  const shop = new Workshop(options)
  const isInterrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)))
  })
  try {
    shop.say(`${new Date().toISOString().slice(0, 10)}: ${describeMachine()}`)
    shop.store()
    for (const name of names) {
      shop.say('')
      await Promise.race([questions.get(name)?.(shop), isInterrupted])
      await shop.tidy()
    }
    shop.say(`\nThe stores stay in ${keptFolder} for the next run. You can delete them.`)
  } finally {
    await shop.remove()
  }
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`)
  process.exitCode = 1
}
// An interrupted question may still have open handles.
process.exit()
