import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JournalMode } from '../../src/sample/cursor-home.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace } from '../helpers/spawn-cursordex.ts'
import { pause } from '../helpers/wait-until.ts'

const SESSIONS = 10
const COMMITS = 24
const writer = fileURLToPath(new URL('../helpers/store-writer.mjs', import.meta.url))

interface Written {
  readonly commits: number
  readonly errors: readonly string[]
  readonly walBytesMax: number
}

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  mkdirSync(dirname(place.cursor.globalPath), { recursive: true })
})
afterEach(() => place.remove())

/** One run of "Cursor", from its start to its quitting. @param timeoutMs how long it waits for a lock: not at all */
async function writeSession(path: string, journalMode: JournalMode, session: number): Promise<Written> {
  // Bursts, and pauses in which the daemon reads.
  const pauses = { pauseMs: 4, longPauseMs: 110 }
  const order = { path, journalMode, session, commits: COMMITS, textLength: 20_000, ...pauses, timeoutMs: 0 }
  const { stdout } = await promisify(execFile)(process.execPath, [writer, JSON.stringify(order)])
  return JSON.parse(stdout) as Written
}

/** What the main file alone holds, as an editor copies it for its backup when it quits. */
function countBackup(path: string): number {
  const backup = join(place.root, 'backup.vscdb')
  copyFileSync(path, backup)
  const db = new Database(backup)
  try {
    return db.prepare<[], number>(`select count(*) from cursorDiskKV where key like 'bubbleId:%'`).pluck().get() ?? 0
  } catch (error) {
    if (error instanceof Error && /no such table/.test(error.message)) return -1
    throw error
  } finally {
    db.close()
  }
}

interface Harm {
  readonly errors: string[]
  readonly walBytesMax: number
  readonly staleBackups: number
  /** Sessions of which the daemon read a part while they went on. */
  readonly readMidway: number
}

/** Whether the daemon held a part of this session before it was over. */
async function isReadMidway(url: string, writing: Promise<unknown>): Promise<boolean> {
  const over = writing.then(() => true)
  let isMidway = false
  for (;;) {
    const { counts } = await getStatus(url)
    if (await Promise.race([over, pause(30).then(() => false)])) break
    isMidway ||= (counts['messages'] ?? 0) % COMMITS !== 0
  }
  return isMidway
}

async function writeSessions(path: string, journalMode: JournalMode, url: string): Promise<Harm> {
  const written: Written[] = []
  let staleBackups = 0
  let readMidway = 0
  for (let session = 1; session <= SESSIONS; session += 1) {
    const writing = writeSession(path, journalMode, session)
    readMidway += Number(await isReadMidway(url, writing))
    written.push(await writing)
    if (countBackup(path) !== session * COMMITS) staleBackups += 1
  }
  return {
    errors: written.flatMap(({ errors }) => errors),
    walBytesMax: Math.max(...written.map(({ walBytesMax }) => walBytesMax)),
    staleBackups,
    readMidway,
  }
}

/** Every handle on a file of Cursor's that was seen between passes, for a while; nothing where the system does not tell. */
async function lookForHandles(pid: number): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const seen = new Set<string>()
  for (let look = 0; look < 25; look += 1) {
    for (const target of openFiles(pid, place.cursor.root)) seen.add(target)
    await pause(20)
  }
  return [...seen]
}

/** The files of Cursor's that a process has open. */
function openFiles(pid: number, root: string): string[] {
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).flatMap((name) => {
    const link = join(folder, name)
    return existsSync(link) ? [readlinkSync(link)] : []
  })
  return targets.filter((target) => target.startsWith(root))
}

describe.each(['wal', 'delete'] as const)('a Cursor that writes in %s mode beside the daemon', (journalMode) => {
  test('never meets a lock, quits with a whole main file, and finds its store sound', async () => {
    const path = place.cursor.globalPath
    const alonePath = join(place.root, 'alone.vscdb')
    const { daemon, url } = await place.serve()
    const beside = await writeSessions(path, journalMode, url)
    const alone = await writeSession(alonePath, journalMode, 1)
    const { counts } = await untilReady(url)
    expect(counts).toMatchObject({ chats: SESSIONS, messages: SESSIONS * COMMITS })
    expect(beside.readMidway).toBeGreaterThan(SESSIONS / 2)
    console.log(`${journalMode}: ${beside.staleBackups} of ${SESSIONS} backups stale, WAL ${beside.walBytesMax} bytes`)
    expect(beside.errors).toEqual([])
    // A quit that meets the few milliseconds of a pass leaves its rows in the WAL, whole: rare, and never a torn file.
    expect(beside.staleBackups).toBeLessThanOrEqual(3)
    expect(beside.walBytesMax).toBeLessThanOrEqual(1.25 * alone.walBytesMax)
    expect(await lookForHandles(daemon.pid)).toEqual([])
    const db = new Database(path)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    db.close()
  })
})

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const bytesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, `${statSync(join(folder, name)).mtimeMs} ${sha256(join(folder, name))}`]),
  )

const full = { method: 'POST', body: '{"full":true}', headers: { 'content-type': 'application/json' } }

describe.each([
  { what: 'small, quit', textLength: 40, isQuit: true },
  { what: 'small, with a WAL', textLength: 40, isQuit: false },
  { what: 'of 35 MB, quit', textLength: 175_000, isQuit: true },
  { what: 'of 35 MB, with a WAL', textLength: 175_000, isQuit: false },
])('a store that is $what', ({ textLength, isQuit }) => {
  test('keeps every byte of file and WAL through a first pass and a full one, and no handle stays', async () => {
    const store = place.cursor.global()
    fillStore(store, { chats: 10, messagesPerChat: 20, textLength })
    store.db.pragma('wal_checkpoint(truncate)')
    if (!isQuit) fillStore(store, { chats: 1, messagesPerChat: 5, textLength })
    // The bytes as they lie on the disk; nobody writes any more. Where it quit, the last connection is closed.
    if (isQuit) store.close()
    const folder = dirname(place.cursor.globalPath)
    const before = bytesOf(folder)
    const { daemon, url } = await place.serve()
    await untilReady(url)
    await getJson(url, '/api/sync', full)
    expect(await lookForHandles(daemon.pid)).toEqual([])
    await daemon.stop()
    const after = bytesOf(folder)
    // A reader may leave an empty WAL behind, which Cursor takes away when it next quits.
    const left = Object.keys(after).filter((name) => !(name in before))
    expect(left.map((name) => statSync(join(folder, name)).size).filter((size) => size > 0)).toEqual([])
    for (const [name, bytes] of Object.entries(before)) expect(`${name} ${after[name]}`).toBe(`${name} ${bytes}`)
  })
})
