import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from '../src/sqlite.ts'
import { endedCpuMs, mirrorIn, peakDuring, withoutSettings } from './daemon.ts'
import { megabytes, ownBin, short, table, type Workshop } from './workshop.ts'

type Cost = Readonly<Record<'wallMs' | 'cpuMs' | 'peakBytes', number>>

const BODIES = 'select json_group_array(parts) from messages cross join bodies on bodies.num = body group by chat'

/**
 * The cost of archives and of a restore: commands without a daemon, with their start. Archives are compared with writing
 * the same texts through gzip, the restore with reading the same from Cursor.
 */
export async function archive(shop: Workshop): Promise<void> {
  const { userDir } = shop.store()
  const daemon = await shop.startReady()
  await daemon.untilReady()
  await daemon.stop()
  // Without Cursor's folder, the commands only archive.
  const dataDir = shop.folder()
  copyFileSync(daemon.mirrorPath, mirrorIn(dataDir))
  const run = (): Promise<Cost> => costOfCommand(['archive', 'run'], dataDir, '')
  const [bytes, gzip] = await writeThroughGzip(mirrorIn(dataDir), shop.folder())
  const first = await run()
  const unchanged = await run()
  const from = join(dataDir, 'archives')
  const restored = shop.folder()
  const restore = (): Promise<Cost> => costOfCommand(['archive', 'restore', '--from', from], restored, '')
  const filled = await restore()
  const again = await restore()
  const ingest = await costOfCommand(['sync'], shop.folder(), userDir)
  const line = (what: string, cost: Cost, floor: Cost): string[] => {
    const ratios = [cost.wallMs / floor.wallMs, cost.cpuMs / floor.cpuMs]
    return [what, short(cost.wallMs), short(cost.cpuMs), ...ratios.map(short), megabytes(cost.peakBytes)]
  }
  const rows = [
    line(`floor: ${megabytes(bytes)} MB through gzip`, gzip, gzip),
    line('archive: first run', first, gzip),
    line('archive: nothing changed', unchanged, gzip),
    line('floor: the same read from Cursor', ingest, ingest),
    line('restore into an empty mirror', filled, ingest),
    line('restore again, nothing missing', again, ingest),
  ]
  shop.say(table(['archives', 'ms', 'CPU ms', 'x floor', 'x floor (CPU)', 'most memory MB'], rows))
}

async function costOfCommand(words: readonly string[], dataDir: string, userDir: string): Promise<Cost> {
  const flags = ['--data-dir', dataDir, '--cursor-user-dir', userDir, '--cursor-home', '']
  const [startedAtMs, spentMs] = [performance.now(), endedCpuMs()]
  const stdio = ['ignore', 'ignore', 'pipe'] as const
  const child = spawn(process.execPath, [ownBin, ...words, ...flags], {
    env: withoutSettings(dataDir),
    stdio: [...stdio],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [peakBytes, [code]] = await peakDuring(child.pid ?? 0, once(child, 'exit') as Promise<[number | null]>)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${said}`)
  return { wallMs: performance.now() - startedAtMs, cpuMs: endedCpuMs() - spentMs, peakBytes }
}

async function writeThroughGzip(mirrorPath: string, outDir: string): Promise<readonly [number, Cost]> {
  const mirror = new Database(mirrorPath, { readonly: true })
  const texts = mirror.prepare<[], string>(BODIES).pluck().all()
  mirror.close()
  const [startedAtMs, cpu] = [performance.now(), process.cpuUsage()]
  const file = await open(join(outDir, 'floor.gz'), 'w')
  for (const text of texts) await file.appendFile(gzipSync(text))
  await file.sync()
  await file.close()
  const { user, system } = process.cpuUsage(cpu)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return [bytes, { wallMs: performance.now() - startedAtMs, cpuMs: (user + system) / 1000, peakBytes: Number.NaN }]
}
