/**
 * A thread that reads and decodes while the one that asks writes. What is ordered and what comes back only the source
 * knows that gave the order; both are values that can be copied.
 */
export interface ReadingThread {
  /** @returns to be called once, for the first portion: null where it cannot be had */
  read(order: unknown): () => unknown
  /** The next portion of what was ordered last. */
  readOn(): () => unknown
}

/** The other thread's side. */
export interface OrderReader {
  read(order: unknown): unknown
  readOn(): unknown
}
