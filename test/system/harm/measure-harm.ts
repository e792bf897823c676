import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import type { JournalMode } from '../../helpers/cursor.ts'
import { getJson, getStatus, untilReady, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'
import { inspect, runCursor, type Told } from './cursor-beside.ts'
import { canLook, HandleWatch, openHandles } from './handle-watch.ts'

export interface HarmOptions {
  readonly journalMode: JournalMode
  readonly quits: number
  readonly commits: number
  /** How long Cursor waits for a lock. By default not at all. */
  readonly timeoutMs?: number
  /** The first size of the store in bytes. A store above 32 MB is not read from a copy in memory. */
  readonly bytesBefore?: number
}

export interface Harm {
  readonly beside: Told
  /** The same measurement without a daemon, in the same run. */
  readonly alone: Told
  readonly store: ReturnType<typeof inspect>
  /** How many states of the mirror were seen while Cursor wrote. It shows that the daemon did read. */
  readonly statesSeen: number
  /** Files of Cursor that the daemon had open while Cursor wrote, as `rw <name>`. */
  readonly handles: readonly string[]
  readonly looks: number
  /** Files of Cursor that the daemon had open at rest. */
  readonly leftOpen: readonly string[]
  /** Owner and mode of the files before and after. */
  readonly rights: readonly (readonly [before: string, after: string])[]
  readonly status: Status
  readonly line: string
}

const rightsOf = (path: string): string => {
  const { uid, gid, mode } = statSync(path)
  return `${uid}:${gid} ${(mode & 0o777).toString(8)}`
}

function prepareStore(path: string, { journalMode, bytesBefore = 0 }: HarmOptions): void {
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  db.pragma(`journal_mode = ${journalMode}`)
  db.exec(`create table cursorDiskKV (key text unique on conflict replace, value blob)`)
  const insert = db.prepare('insert into cursorDiskKV (key, value) values (?, ?)')
  db.transaction(() => {
    for (let at = 0; at * 100_000 < bytesBefore; at += 1) insert.run(`agentKv:blob:${at}`, 'x'.repeat(100_000))
  })()
  db.close()
  // Another mode than the daemon gives its own files.
  chmodSync(path, 0o640)
}

/** Lets "Cursor" write, quit and start again beside a daemon, and alone. */
export async function measureHarm(options: HarmOptions): Promise<Harm> {
  const place = new Workplace()
  try {
    const { journalMode, quits, commits, timeoutMs = 0 } = options
    const path = place.cursor.globalPath
    const alonePath = join(place.root, 'alone', 'state.vscdb')
    for (const each of [path, alonePath]) prepareStore(each, options)
    const before = rightsOf(path)
    const { daemon, url } = await place.serve()
    await untilReady(url)
    const watch = new HandleWatch(daemon.pid, place.cursor.root)
    const order = { journalMode, commits, textLength: 20_000, timeoutMs }
    const writing = runCursor({ ...order, path, quits })
    const statesSeen = await countStates(url, writing)
    const beside = await writing
    const alone = await runCursor({ ...order, path: alonePath, quits: 1 })
    const status = await untilReady(url)
    const seen = [...(await watch.stop()).keys()].map((name) => name.replace(`${dirname(path)}/`, ''))
    const leftOpen = await handlesAtRest(daemon.pid, place.cursor.root)
    const walPath = `${path}-wal`
    const wal = statSync(walPath, { throwIfNoEntry: false }) === undefined ? [] : [[before, rightsOf(walPath)] as const]
    const rights = [[before, rightsOf(path)] as const, ...wal]
    const { resources } = await getJson<{ resources: { longestReadMs: number } }>(url, '/api/status')
    const line =
      `do no harm, ${journalMode}${options.bytesBefore === undefined ? '' : ', large'}: ${beside.commits} commits, ${beside.quits} quits, ${beside.errors.length} failed, ` +
      `${beside.staleBackups} of ${quits} backups stale, WAL ${beside.walBytesMax} bytes (alone ${alone.walBytesMax}), ` +
      `longest commit ${Math.round(beside.commitMsMax)} ms (alone ${Math.round(alone.commitMsMax)}), ` +
      `longest read ${resources.longestReadMs} ms, ${statesSeen} states read meanwhile`
    const store = inspect(path)
    return { beside, alone, store, statesSeen, handles: seen, looks: watch.looks, leftOpen, rights, status, line }
  } finally {
    await place.remove()
  }
}

/** How many different counts of messages the daemon reported meanwhile. */
async function countStates(url: string, writing: Promise<unknown>): Promise<number> {
  const over = writing.then(() => true)
  const counts = new Set<number>()
  while (!(await Promise.race([over, pause(60).then(() => false)]))) {
    counts.add((await getStatus(url)).counts['messages'] ?? 0)
  }
  return counts.size
}

/** Handles that stay open while the daemon is ready and nothing is written. A planned pass may have one for a moment. */
export async function handlesAtRest(pid: number, root: string): Promise<string[]> {
  const LOOKS = 25
  const seen = new Map<string, number>()
  if (!canLook) return []
  for (let look = 0; look < LOOKS; look += 1) {
    for (const { path } of openHandles(pid, root)) seen.set(path, (seen.get(path) ?? 0) + 1)
    await pause(20)
  }
  return [...seen].filter(([, times]) => times > LOOKS / 5).map(([path]) => path)
}
