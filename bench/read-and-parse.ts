import { closeSync, openSync, readSync } from 'node:fs'
import Database from '../src/sqlite.ts'

/** In the order of the rows in the file. Reading by the index on `key` takes longer. */
const CHAT_ROWS = `
select value from cursorDiskKV
where (+key >= 'bubbleId:' and +key < 'bubbleId;') or (+key >= 'composerData:' and +key < 'composerData;')
order by rowid
`

export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

export function costOf(act: () => void): Cost {
  const [cpu, startedAtMs] = [process.cpuUsage(), performance.now()]
  act()
  const spent = process.cpuUsage(cpu)
  return { wallMs: performance.now() - startedAtMs, cpuMs: (spent.user + spent.system) / 1000 }
}

/** The floor of a first ingest: reads and parses every row of a chat, and does nothing with it. */
export function readAndParse(path: string): Cost {
  const db = new Database(path, { readonly: true })
  try {
    return costOf(() => {
      for (const value of db.prepare<[], string>(CHAT_ROWS).pluck().iterate()) JSON.parse(value)
    })
  } finally {
    db.close()
  }
}

/**
 * Reads a file, so that the system caches it for the next measurement. The cache may not last: some virtual machines give
 * its memory back within a minute, and then a store of 1.5 GB is read from the disk again. A file system in memory
 * (`TMPDIR=/dev/shm`) avoids this.
 */
export function bringIntoMemory(path: string): void {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(2 ** 20)
    while (readSync(file, buffer) > 0);
  } finally {
    closeSync(file)
  }
}
