import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readManifest } from '../src/api/archives/manifest-files.ts'
import { readObject } from '../src/api/archives/object-files.ts'
import type { Manifest } from '../src/archive/manifest.ts'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openWriter } from '../src/mirror/open.ts'
import { runArchive } from './archive-run.ts'
import { measure, type Cost } from './measured-act.ts'
import { megabytes, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/**
 * The cost of a run in its own process, compared with writing the same bytes through gzip, and of a second run after the
 * newest 1% changed. Memory is the peak of that process above an idle Node.
 */
export async function archive(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  await shop.tidy()
  const dir = mkdtempSync(join(tmpdir(), 'cursordex-bench-archive-'))
  try {
    await compare(shop, mirrorPath(daemon.dataDir), dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function compare(shop: Workshop, path: string, dir: string): Promise<void> {
  const [first, made] = await runArchive(path, dir)
  const { chats, messageCount } = manifestOf(dir, made.name)
  const texts = chats.map(({ object }) => Buffer.from(textOf(dir, object)))
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  const [floor] = await measure(() => writeAgain(dir, texts))
  changeNewest(path, messageCount / 100)
  const [second, again] = await runArchive(path, dir)
  const [third] = await runArchive(path, dir)
  const line = (what: string, { cpuMs, wallMs, growthBytes }: Cost): string[] => {
    const ratios = [wallMs / floor.wallMs, cpuMs / floor.cpuMs, cpuMs / first.cpuMs]
    const costs = [cpuMs, wallMs, ...ratios].map((figure) => short(figure))
    return [what, ...costs, megabytes(growthBytes)]
  }
  shop.say(`${messageCount} messages in ${chats.length} chats, ${megabytes(bytes)} MB of text`)
  const rows = [
    line('floor: the same bytes through gzip', floor),
    line('first run', first),
    line(`newest 1% of the messages changed: ${again.packed} chats packed`, second),
    line('nothing changed', third),
  ]
  shop.say(table(['archive', 'CPU ms', 'ms', 'x floor', 'x floor (CPU)', 'x first (CPU)', 'MB more'], rows))
}

function manifestOf(dir: string, name: string): Manifest {
  const read = readManifest(dir, name)
  if (read.kind === 'damaged') throw new Error(read.why)
  return read.value
}

function textOf(dir: string, object: string): string {
  const read = readObject(dir, object)
  if (read.kind === 'damaged') throw new Error(read.why)
  return read.value
}

async function writeAgain(dir: string, texts: readonly Buffer[]): Promise<void> {
  const file = await open(join(dir, 'floor.gz'), 'w')
  for (const text of texts) await file.appendFile(gzipSync(text))
  await file.sync()
  await file.close()
}

/** Changes the newest messages, as users do. */
function changeNewest(path: string, count: number): void {
  const writer = openWriter(path)
  const newest = 'select key from messages order by key desc limit ?'
  writer.prepare(`update messages set model = 'another' where key in (${newest})`).run(Math.ceil(count))
  writer
    .prepare(
      `update chats set revision = revision + (select max(revision) from chats)
       where num in (select chat from messages where key in (${newest}))`,
    )
    .run(Math.ceil(count))
  writer.close()
}
