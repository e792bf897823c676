import { readFileSync } from 'node:fs'
import type { Store } from './cursor.ts'

interface Line {
  /** A row of `cursorDiskKV`. */
  readonly key?: string | null
  /** A row of `ItemTable`. */
  readonly item?: string
  readonly value?: unknown
}

/** Writes the rows of a JSONL file into a store of Cursor, in their order. A line with `about` is a comment. */
export function writeLines(store: Pick<Store, 'put' | 'item'>, file: URL): void {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const { key, item, value } = line === '' ? ({} as Line) : (JSON.parse(line) as Line)
    if (key !== undefined) store.put(key, value)
    if (item !== undefined) store.item(item, value)
  }
}
