import { describe, expect, test } from 'vitest'
import { canLook } from './handle-watch.ts'
import { measureHarm, type Harm } from './measure-harm.ts'

const QUITS = 8
const COMMITS = 60
/** SQLite empties a WAL of 1,000 pages. */
const AUTOCHECKPOINT_BYTES = 1000 * 4120

function expectNoHarm({ beside, store, handles, leftOpen, rights, statesSeen }: Harm, statesMin: number): void {
  expect(beside.errors).toEqual([])
  expect(store).toEqual({ integrity: 'ok', digest: beside.digest })
  expect(leftOpen).toEqual([])
  // SQLite always opens a WAL and its index for writing, but never the database itself.
  expect(handles.filter((name) => name.startsWith('rw') && !/-(wal|shm)$/.test(name))).toEqual([])
  for (const [before, after] of rights) expect(after).toBe(before)
  expect(statesSeen).toBeGreaterThan(statesMin)
}

describe.concurrent('a Cursor that writes, quits and starts again beside the daemon', () => {
  test('in WAL mode: meets no lock, its WAL stays short, its backups are whole', async () => {
    const harm = await measureHarm({ journalMode: 'wal', quits: QUITS, commits: COMMITS })
    console.log(harm.line)
    expectNoHarm(harm, QUITS / 2)
    expect(harm.beside.commits).toBe(QUITS * COMMITS)
    // If Cursor quits during the few milliseconds of a read, its last rows stay in the WAL, undamaged. On a busy
    // machine a read takes a tenth of a second. test/soak measures how rare this is otherwise.
    expect(harm.beside.staleBackups).toBeLessThanOrEqual(QUITS / 4)
    // Cursor goes on in a WAL that it could not empty when it quit, until SQLite empties it.
    const walBytes = harm.beside.staleBackups === 0 ? harm.alone.walBytesMax : AUTOCHECKPOINT_BYTES
    expect(harm.beside.walBytesMax).toBeLessThanOrEqual(1.25 * walBytes)
    // If the system reports open files, a read was seen.
    expect(harm.handles.length > 0).toBe(canLook)
  })

  test('in rollback mode, with a store that is copied: meets no lock', async () => {
    const harm = await measureHarm({ journalMode: 'delete', quits: QUITS, commits: 15 })
    console.log(harm.line)
    // A copy is discarded if Cursor wrote meanwhile, and the wait before the next one grows.
    expectNoHarm(harm, 1)
    expect(harm.beside.staleBackups).toBe(0)
  })

  test('in rollback mode, with a store too large for that: no commit fails, and none waits for long', async () => {
    const options = { journalMode: 'delete', quits: QUITS, commits: 15, bytesBefore: 34_000_000 } as const
    // Cursor's SQLite waits a second for a lock.
    const harm = await measureHarm({ ...options, timeoutMs: 1000 })
    console.log(harm.line)
    expectNoHarm(harm, QUITS / 2)
    expect(harm.beside.staleBackups).toBe(0)
  })
})
