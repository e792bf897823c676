import type { PageFile } from './page-file.ts'
import { BadBytes, readRecord, readVarint, type Value } from './records.ts'

/** Pages of a table are numbered by rowid; pages of an index, and of a table without rowids, by the record itself. */
const TABLE_INNER = 5
const TABLE_LEAF = 13
const INDEX_INNER = 2
const INDEX_LEAF = 10

export interface StoredRow {
  /** Null in an index. */
  readonly rowid: number | null
  readonly values: readonly Value[]
}

export interface TreePage {
  readonly isIndex: boolean
  readonly rows: readonly StoredRow[]
  readonly children: readonly number[]
  /** Rows of which not all bytes could be read. */
  readonly badRows: number
}

/** What a page of a tree holds; null for one that is no such page. */
export function readTreePage(file: PageFile, num: number): TreePage | null {
  const page = file.read(num)
  if (page === null) return null
  const start = num === 1 ? 100 : 0
  const type = page[start] ?? 0
  const isInner = type === TABLE_INNER || type === INDEX_INNER
  if (!isInner && type !== TABLE_LEAF && type !== INDEX_LEAF) return null
  const isIndex = type === INDEX_INNER || type === INDEX_LEAF
  const pointersAt = start + (isInner ? 12 : 8)
  const count = page.readUInt16BE(start + 3)
  if (pointersAt + count * 2 > page.length) return null
  const rows: StoredRow[] = []
  const children: number[] = []
  let badRows = 0
  for (let index = 0; index < count; index += 1) {
    try {
      const at = page.readUInt16BE(pointersAt + index * 2)
      if (at < pointersAt + count * 2 || at + 4 > page.length) throw new BadBytes('a row lies outside of its page')
      if (isInner) children.push(page.readUInt32BE(at))
      if (!isInner || isIndex) rows.push(readCell(file, page, isInner ? at + 4 : at, isIndex))
    } catch (error) {
      if (!(error instanceof BadBytes)) throw error
      badRows += 1
    }
  }
  if (isInner) children.push(page.readUInt32BE(start + 8))
  return { isIndex, rows, children, badRows }
}

function readCell(file: PageFile, page: Buffer, at: number, isIndex: boolean): StoredRow {
  const [size, afterSize] = readVarint(page, at)
  const [rowid, from] = isIndex ? [null, afterSize] : readVarint(page, afterSize)
  if (size < 1 || size > file.count * file.pageSize) throw new BadBytes('a row is of no possible size')
  return { rowid, values: readRecord(readPayload(file, page, { from, size, isIndex })) }
}

interface Place {
  readonly from: number
  readonly size: number
  readonly isIndex: boolean
}

/** Of a long row the beginning stands in its page, and the rest in a chain of others. */
function readPayload(file: PageFile, page: Buffer, { from, size, isIndex }: Place): Buffer {
  const usable = file.pageSize
  const most = isIndex ? Math.floor(((usable - 12) * 64) / 255) - 23 : usable - 35
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const fitting = least + ((size - least) % (usable - 4))
  const local = size <= most ? size : fitting <= most ? fitting : least
  if (from + local > page.length) throw new BadBytes('a row reaches beyond its page')
  if (local === size) return page.subarray(from, from + size)
  const pieces = [page.subarray(from, from + local)]
  if (from + local + 4 > page.length) throw new BadBytes('a row reaches beyond its page')
  let next = page.readUInt32BE(from + local)
  for (let left = size - local; left > 0; left -= usable - 4) {
    const more = file.read(next)
    if (more === null) throw new BadBytes('a row has no end')
    pieces.push(more.subarray(4, 4 + Math.min(left, usable - 4)))
    next = more.readUInt32BE(0)
  }
  return Buffer.concat(pieces)
}
