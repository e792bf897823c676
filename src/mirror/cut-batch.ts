import { SeenTerms } from './write-dictionary.ts'
import { cutParts, type MessageTerms } from './write-terms.ts'

/** The terms of some messages as they pass from one thread to another: all in one piece, nothing to be copied. */
export interface CutBatch {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Of each message, as many as it has columns. */
  readonly lengths: Uint32Array<ArrayBuffer>
  /** Those that the thread meets for the first time and that belong into the list of terms. */
  readonly fresh: readonly string[]
}

/** Cuts messages for another thread, which writes them. */
export class BatchCutter {
  readonly #seen = new SeenTerms()

  /** @param parts of each message, as they are kept */
  cut(parts: readonly string[]): CutBatch {
    const rows = parts.map(cutParts)
    const columns = rows.flat()
    const lengths = Uint32Array.from(columns, (column) => column.length)
    const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0))
    let at = 0
    for (const column of columns) {
      bytes.set(column, at)
      at += column.length
    }
    return { bytes, lengths, fresh: rows.flatMap((row) => this.#seen.freshOf(row)) }
  }
}

/** @param count how many messages were cut */
export function openBatch({ bytes, lengths }: CutBatch, count: number): MessageTerms[] {
  const each = lengths.length / count
  let at = 0
  return Array.from({ length: count }, (_, message) =>
    Array.from(lengths.subarray(message * each, (message + 1) * each), (length) => {
      at += length
      return Buffer.from(bytes.buffer, at - length, length)
    }),
  )
}
