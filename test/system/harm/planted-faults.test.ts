import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { runCursor, type Order } from './cursor-beside.ts'

const freshPath = (): string => join(mkdtempSync(join(homedir(), 'store-')), 'state.vscdb')

/** A reader that keeps its handle, which the daemon must not do. @param isReading it also keeps a transaction */
async function runBesideReader(order: Omit<Order, 'path'>, isReading: boolean) {
  const path = freshPath()
  const made = new Database(path)
  made.pragma(`journal_mode = ${order.journalMode}`)
  made.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
  made.close()
  const reader = new Database(path, { readonly: true })
  try {
    if (isReading) reader.exec('begin')
    reader.prepare('select count(*) from cursorDiskKV').get()
    return await runCursor({ ...order, path })
  } finally {
    reader.close()
  }
}

describe.concurrent('what the daemon must not do is noticed:', () => {
  test('a handle that is kept makes every backup stale', async () => {
    const order = { journalMode: 'wal', quits: 5, commits: 5, textLength: 20_000, timeoutMs: 0 } as const
    const outcome = await runBesideReader(order, false)
    console.log(`planted, an open handle: ${outcome.staleBackups} of ${outcome.quits} backups stale`)
    expect(outcome.staleBackups).toBe(5)
    expect((await runCursor({ ...order, path: freshPath() })).staleBackups).toBe(0)
  })

  test('a transaction that is kept makes the WAL grow', async () => {
    const order = { journalMode: 'wal', quits: 1, commits: 300, textLength: 40_000, timeoutMs: 0 } as const
    const outcome = await runBesideReader(order, true)
    const alone = await runCursor({ ...order, path: freshPath() })
    console.log(`planted, an open transaction: WAL ${outcome.walBytesMax} bytes, alone ${alone.walBytesMax}`)
    expect(outcome.walBytesMax).toBeGreaterThan(1.25 * alone.walBytesMax)
  })

  test('a transaction on a store in rollback mode makes commits fail', async () => {
    const order = { journalMode: 'delete', quits: 1, commits: 5, textLength: 100, timeoutMs: 0 } as const
    const outcome = await runBesideReader(order, true)
    console.log(`planted, an open transaction in rollback mode: ${outcome.errors.length} failed`)
    expect(outcome.errors).toContain('commit: SQLITE_BUSY')
  })
})
