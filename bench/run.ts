import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from '../src/sqlite.ts'
import { commitToHit } from './commit-to-hit.ts'
import { firstIngest } from './first-ingest.ts'
import { AGENTS, LARGE, MANY, scaled } from './make-store.ts'
import { memory } from './memory.ts'
import { page } from './page.ts'
import { reportLatency } from './reports.ts'
import { searchLatency } from './search-latency.ts'
import { keptFolder, short, Workshop } from './workshop.ts'

const LARGE_GB = 1.5

const measures: ReadonlyMap<string, (shop: Workshop) => Promise<void>> = new Map([
  ['first-ingest', firstIngest],
  ['memory', memory],
  ['commit-to-hit', commitToHit],
  ['search-latency', searchLatency],
  ['reports', reportLatency],
  ['page', page],
])

const USAGE = `npm run bench -- [--gb 1.5 | --messages 500000] [--agents] [--only <measure>]... [--runs 3] [--against <another built checkout>]
measures: ${[...measures.keys()].join(', ')}`

const flags = {
  gb: { type: 'string' },
  messages: { type: 'string' },
  agents: { type: 'boolean' },
  against: { type: 'string' },
  only: { type: 'string', multiple: true },
  runs: { type: 'string' },
  help: { type: 'boolean' },
} as const

function readArguments() {
  const { values } = parseArgs({ options: flags })
  if (values.help === true) throw new Error('help was asked for')
  const { gb, messages, only, runs } = values
  if (gb !== undefined && messages !== undefined) throw new Error('--gb and --messages are two shapes: choose one')
  const unknown = only?.find((name) => !measures.has(name))
  if (unknown !== undefined) throw new Error(`unknown measure: ${unknown}`)
  const shape =
    messages === undefined
      ? scaled(values.agents === true ? AGENTS : LARGE, positive('--gb', gb ?? LARGE_GB) / LARGE_GB)
      : scaled(MANY, positive('--messages', messages) / MANY.messages)
  const otherBin = values.against === undefined ? null : join(values.against, 'dist', 'cli', 'bin.js')
  const shop = new Workshop(shape, Math.ceil(positive('--runs', runs ?? 3)), otherBin)
  return { shop, names: only ?? [...measures.keys()] }
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
  const { shop, names } = readArguments()
  const isInterrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Error(signal)))
  })
  try {
    shop.say(`${new Date().toISOString().slice(0, 10)}: ${describeMachine()}`)
    for (const name of names) {
      shop.say(`\n${name}`)
      await Promise.race([measures.get(name)?.(shop), isInterrupted])
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
// An interrupted measure may still have open handles.
process.exit()
