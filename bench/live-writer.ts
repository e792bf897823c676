import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import Database from '../src/sqlite.ts'
import type { BenchDaemon } from './daemon.ts'

export const LIVE_CHAT = 'bench-live'
const FOUND_MS_MAX = 30_000
const DROP = `
delete from cursorDiskKV
where key = 'composerData:${LIVE_CHAT}' or (key >= 'bubbleId:${LIVE_CHAT}:' and key < 'bubbleId:${LIVE_CHAT};')
`

/** Fields of a message's row: its text, or more. */
type Content = Readonly<Record<string, unknown>>

/** Plays Cursor in a store: one chat that grows by a message with each commit. At its end the chat is deleted. */
export class LiveWriter {
  readonly #db: Sqlite.Database
  readonly ids: string[] = []
  readonly #startedAtMs = Date.now()

  /**
   * @param length how many messages the chat has from the beginning
   * @param contentOf what is in each of them
   */
  constructor(path: string, length: number, contentOf: (index: number) => Content) {
    this.#db = new Database(path, { timeout: 5000 })
    this.#db.pragma('synchronous = normal')
    // A killed run did not delete its rows.
    this.#db.exec(DROP)
    if (length > 0) this.#write(Array.from({ length }, (_, index) => contentOf(index)))
  }

  /** Commits a message with this text. */
  add(text: string): void {
    this.#write([{ text }])
  }

  /** Writes the last message again, with this text. */
  rewrite(text: string): void {
    this.#put(this.ids.length - 1, { text })
  }

  #write(contents: readonly Content[]): void {
    const write = this.#db.transaction(() => {
      for (const content of contents) {
        this.ids.push(randomUUID())
        this.#put(this.ids.length - 1, content)
      }
      const fullConversationHeadersOnly = this.ids.map((bubbleId) => ({ bubbleId, type: 2 }))
      const chat = { _v: 10, composerId: LIVE_CHAT, name: 'A live chat', createdAt: this.#startedAtMs }
      this.#insert(`composerData:${LIVE_CHAT}`, { ...chat, fullConversationHeadersOnly })
    })
    write.immediate()
  }

  #put(index: number, content: Content): void {
    const bubbleId = this.ids[index] ?? ''
    const createdAt = new Date(this.#startedAtMs + index).toISOString()
    this.#insert(`bubbleId:${LIVE_CHAT}:${bubbleId}`, { _v: 3, type: 2, bubbleId, createdAt, ...content })
  }

  #insert(key: string, value: Content): void {
    this.#db.prepare('insert into cursorDiskKV (key, value) values (?, ?)').run(key, JSON.stringify(value))
  }

  close(): void {
    if (!this.#db.open) return
    this.#db.exec(DROP)
    this.#db.close()
  }
}

/** Words that no generated text contains, one for each number. */
export const liveWord = (stem: string, index: number): string =>
  stem + String(index).replaceAll(/\d/g, (digit) => 'qwrtzpsdfg'.charAt(Number(digit)))

/** How many messages have the word. */
export const countHits = async (daemon: BenchDaemon, word: string): Promise<number> =>
  (await daemon.get<{ total: number }>(`/api/search?sort=newest&limit=1&literal=true&q=${word}`)).total

/** @returns milliseconds until a search over HTTP finds the word */
export async function untilFound(daemon: BenchDaemon, word: string): Promise<number> {
  const startedAtMs = performance.now()
  for (; performance.now() < startedAtMs + FOUND_MS_MAX; await sleep(2)) {
    if ((await countHits(daemon, word)) > 0) return performance.now() - startedAtMs
  }
  throw new Error(`${word} was not found within ${FOUND_MS_MAX / 1000} s`)
}
