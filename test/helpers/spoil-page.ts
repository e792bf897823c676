import { readFileSync, writeFileSync } from 'node:fs'

/** The first byte of a SQLite page is its type: https://www.sqlite.org/fileformat2.html#b_tree_pages */
const pageKinds = { 'index-inner': 2, 'index-leaf': 10, 'table-leaf': 13 } as const

/**
 * Overwrites one page of 4 KB of a SQLite file with garbage.
 * @param at index among the pages of its kind; negative indexes count from the end
 * @returns the original bytes of the file
 */
export function spoilPage(path: string, kind: keyof typeof pageKinds, at: number): Buffer {
  const bytes = readFileSync(path)
  const starts = Array.from({ length: bytes.length / 4096 }, (_, page) => page * 4096)
  const start = starts.filter((each) => bytes[each] === pageKinds[kind]).at(at)
  if (start === undefined) throw new Error(`${path} has no such page`)
  writeFileSync(path, Buffer.from(bytes).fill(0xff, start, start + 4096))
  return bytes
}
