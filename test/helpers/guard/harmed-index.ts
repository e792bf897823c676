import { copyFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Chance } from '../cursor.ts'
import { fillStore, wordOf } from '../fill-store.ts'
import { getJson, untilReady, Workplace } from '../spawn-cursordex.ts'
import { waitUntil } from '../wait-until.ts'
import { garbage, chanceOf } from './chance.ts'

const CHATS = 20
const MESSAGES = 26

/** What can happen to the file of the index, beside what its tables lose. `path` is that of the file. */
export const harms: Readonly<Record<string, (path: string, kept: KeptFiles) => void>> = {
  deleted: (path) => removeDatabase(path),
  'cut in half': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  'cut to nothing': (path) => truncateSync(path, 0),
  'filled with garbage': (path) => writeFileSync(path, garbage(chanceOf(1), statSync(path).size)),
  'of another mirror': (path, { ofAnother }) => putBack(path, ofAnother),
  older: (path, { older }) => putBack(path, older),
}

const FULL = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"full":true}' }

/** Each of these is emptied. */
export const tables = [
  ...['message_terms', 'chat_terms'].flatMap((name) =>
    ['data', 'idx', 'docsize', 'config'].map((part) => `${name}_${part}`),
  ),
  'terms',
  'pending',
  'position',
]

export function empty(path: string, table: string): void {
  const db = new Database(path)
  // Tables of FTS5 may be changed only so.
  db.unsafeMode()
  db.exec(`delete from ${table}`)
  db.close()
}

interface KeptFiles {
  readonly ofAnother: string
  readonly older: string
}

function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
}

function putBack(path: string, from: string): void {
  removeDatabase(path)
  copyFileSync(from, path)
}

/** A data folder whose index is harmed, with a store of 520 messages that each have a word of their own. */
export class HarmedIndex {
  readonly place = new Workplace()
  readonly #files = { ofAnother: join(this.place.root, 'of-another.db'), older: join(this.place.root, 'older.db') }
  readonly #olderMirror = join(this.place.root, 'older-mirror.db')
  #words: readonly string[] = []

  get path(): string {
    return join(this.place.dataDir, 'index.db')
  }

  get kept(): KeptFiles {
    return this.#files
  }

  /** Mirrors one half of the chats, and then all. */
  async fill(): Promise<void> {
    const store = this.place.cursor.global()
    const other = new Workplace()
    fillStore(other.cursor.global(), { chats: 3, messagesPerChat: 3 })
    await this.#mirror(other, this.#files.ofAnother)
    await other.remove()
    fillStore(store, { chats: CHATS / 2, messagesPerChat: MESSAGES })
    await this.#mirror(this.place, this.#files.older)
    copyFileSync(join(this.place.dataDir, 'mirror.db'), this.#olderMirror)
    fillStore(store, { chats: CHATS, messagesPerChat: MESSAGES })
    await this.#mirror(this.place, null)
    this.#words = Array.from({ length: CHATS * MESSAGES }, (_, at) => wordOf(Math.floor(at / MESSAGES), at % MESSAGES))
  }

  async #mirror(place: Workplace, copyTo: string | null): Promise<void> {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    await daemon.stop()
    if (copyTo !== null) copyFileSync(join(place.dataDir, 'index.db'), copyTo)
  }

  /** Checks everything, and asks for some of the words. @returns those that are not found */
  async missing(url: string, words: number): Promise<string[]> {
    // Damage may be met before it is looked for.
    await waitUntil('the check', async () => (await fetch(`${url}/api/sync`, FULL)).ok)
    await untilReady(url)
    const missing: string[] = []
    for (const word of new Chance('words').shuffled(this.#words).slice(0, words)) {
      const { total, warnings } = await getJson<{ total: number; warnings: string[] }>(url, `/api/search?q=${word}`)
      if (total !== 1 || warnings.length > 0) missing.push(`${word}: ${total} ${warnings.join(' ')}`)
    }
    return missing
  }

  /** The mirror as it was when half of the chats were there. The index is ahead of it. */
  putMirrorBack(): void {
    putBack(join(this.place.dataDir, 'mirror.db'), this.#olderMirror)
  }

  async remove(): Promise<void> {
    await this.place.remove()
  }
}
