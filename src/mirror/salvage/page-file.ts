import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readWalPages } from './wal-frames.ts'

const MAGIC = 'SQLite format 3\0'
/** What `openWriter` makes; counts where the head of the file cannot be read. */
const OUR_PAGE_SIZE = 16_384

/**
 * The pages of a SQLite file, each as its last commit left it, without SQLite: a page that SQLite would refuse must not
 * stand before those behind it. Only for a file that no connection of this process has open.
 */
export class PageFile {
  readonly pageSize: number
  readonly count: number
  readonly #file: number
  readonly #wal: ReadonlyMap<number, Buffer>

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.pageSize = this.#readPageSize()
    this.#wal = readWalPages(`${path}-wal`, this.pageSize)
    const inFile = Math.floor(fstatSync(this.#file).size / this.pageSize)
    this.count = [...this.#wal.keys()].reduce((most, page) => Math.max(most, page), inFile)
  }

  /** @param num 1 is the first. Null where the file holds no such page. */
  read(num: number): Buffer | null {
    if (num < 1 || num > this.count) return null
    const newest = this.#wal.get(num)
    if (newest !== undefined) return newest
    const page = Buffer.alloc(this.pageSize)
    return this.#readAt(page, (num - 1) * this.pageSize) === this.pageSize ? page : null
  }

  close(): void {
    closeSync(this.#file)
  }

  #readPageSize(): number {
    const head = Buffer.alloc(100)
    if (this.#readAt(head, 0) < 100 || head.toString('latin1', 0, 16) !== MAGIC) return OUR_PAGE_SIZE
    const size = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16)
    return size >= 512 && (size & (size - 1)) === 0 ? size : OUR_PAGE_SIZE
  }

  /** A part of the disk that cannot be read costs the pages on it. */
  #readAt(into: Buffer, at: number): number {
    try {
      return readSync(this.#file, into, 0, into.length, at)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EIO') return 0
      throw error
    }
  }
}
