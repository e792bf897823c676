import { openBatch, type CutBatch } from './cut-batch.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { listTerms } from './write-dictionary.ts'
import type { MessageTerms } from './write-terms.ts'

/** A thread that cuts messages into terms while this one writes. */
export interface CuttingThread {
  /**
   * @param parts of each message, as they are kept
   * @returns to be called once, for what was asked: null where it cannot be had
   */
  cut(parts: readonly string[]): () => CutBatch | null
}

export interface WaitingMessage {
  readonly key: number
  readonly parts: string
}

export interface CutMessage {
  readonly key: number
  readonly terms: MessageTerms
}

/** UTF-16 units that are handed over at once: what both threads hold of it at the same time is a few times as much. */
const PIECE_LENGTH_MAX = 1024 * 1024

interface AskedPiece {
  readonly keys: readonly number[]
  readonly take: () => CutBatch | null
}

const COUNT_CHANGES = `select total_changes() as changes`

/** The next messages of the backlog, which are cut while those before them are written. */
export class CutAhead {
  readonly #thread: CuttingThread
  #asked: AskedPiece[] = []
  #changes = 0

  constructor(thread: CuttingThread) {
    this.#thread = thread
  }

  /** @param messages newest first */
  ask(messages: readonly WaitingMessage[]): void {
    let piece: WaitingMessage[] = []
    let length = 0
    for (const [at, message] of messages.entries()) {
      piece.push(message)
      length += message.parts.length
      if (length < PIECE_LENGTH_MAX && at < messages.length - 1) continue
      this.#asked.push({ keys: piece.map(({ key }) => key), take: this.#thread.cut(piece.map(({ parts }) => parts)) })
      piece = []
      length = 0
    }
  }

  /** To be told once what was written meanwhile is committed: what is written from now on may be to these messages. */
  settle(db: Mirror): void {
    this.#changes = countChanges(db)
  }

  /** What was asked for, its terms listed; null where it cannot be had, or a message may have changed since. */
  take(db: Mirror): CutMessage[] | null {
    const isStale = countChanges(db) !== this.#changes
    const taken = this.#asked.splice(0).map(({ keys, take }) => ({ keys, batch: take() }))
    // Stale or not: the thread tells each term once.
    for (const { batch } of taken) listTerms(db, batch?.fresh ?? [])
    if (isStale || taken.length === 0) return null
    const cut: CutMessage[] = []
    for (const { keys, batch } of taken) {
      if (batch === null) return null
      const rows = openBatch(batch, keys.length)
      for (const [at, key] of keys.entries()) cut.push({ key, terms: rows[at] ?? [] })
    }
    return cut
  }
}

const countChanges = (db: Mirror): number => prepared<{ changes: number }>(db, COUNT_CHANGES).get()?.changes ?? 0
