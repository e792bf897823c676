import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import type { JournalMode } from '../../helpers/cursor.ts'

const writer = fileURLToPath(new URL('../../helpers/cursor-writer.mjs', import.meta.url))

export interface Order {
  readonly path: string
  readonly journalMode: JournalMode
  readonly quits: number
  /** How many commits each session makes. */
  readonly commits: number
  readonly textLength: number
  /** How long a commit waits for a lock. */
  readonly timeoutMs: number
}

export interface Told {
  readonly commits: number
  readonly errors: readonly string[]
  readonly walBytesMax: number
  readonly commitMsMax: number
  readonly quits: number
  readonly staleBackups: number
  readonly digest: string
}

/** Starts and quits "Cursor" several times. */
export async function runCursor(order: Order): Promise<Told> {
  const { stdout } = await promisify(execFile)(process.execPath, [writer, JSON.stringify(order)])
  return JSON.parse(stdout) as Told
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** Checks the file, and returns a digest of its contents to compare with the writer's. */
export function inspect(path: string): { readonly integrity: string; readonly digest: string } {
  const db = new Database(path)
  try {
    const rows = db.prepare<[], { key: string; value: string }>('select key, value from cursorDiskKV').all()
    const lines = rows.map(({ key, value }) => `${key} ${sha256(value)}`)
    return {
      integrity: String(db.pragma('integrity_check', { simple: true })),
      digest: sha256(lines.toSorted().join('\n')),
    }
  } finally {
    db.close()
  }
}
