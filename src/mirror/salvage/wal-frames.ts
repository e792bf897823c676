import { existsSync, readFileSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682

/** The running checksum of a WAL, over pairs of words in the order that its header names. */
class Checksum {
  readonly #isBigEndian: boolean
  #first = 0
  #second = 0

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian
  }

  add(bytes: Buffer): void {
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      this.#first = (this.#first + this.#word(bytes, at) + this.#second) >>> 0
      this.#second = (this.#second + this.#word(bytes, at + 4) + this.#first) >>> 0
    }
  }

  stands(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
  }
}

/**
 * The newest committed content of each page that a WAL holds, by the rule of SQLite: everything up to the last commit
 * before the first frame whose checksum or salt is wrong.
 */
export function readWalPages(path: string, pageSize: number): ReadonlyMap<number, Buffer> {
  const committed = new Map<number, Buffer>()
  const wal = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  if (wal.length < HEADER_BYTES || (wal.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return committed
  const checksum = new Checksum((wal.readUInt32BE(0) & 1) === 1)
  checksum.add(wal.subarray(0, 24))
  if (wal.readUInt32BE(8) !== pageSize || !checksum.stands(wal, 24)) return committed
  const salts = wal.subarray(16, 24)
  const waiting = new Map<number, Buffer>()
  const frameBytes = FRAME_HEADER_BYTES + pageSize
  for (let at = HEADER_BYTES; at + frameBytes <= wal.length; at += frameBytes) {
    const content = wal.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)
    checksum.add(wal.subarray(at, at + 8))
    checksum.add(content)
    if (!wal.subarray(at + 8, at + 16).equals(salts) || !checksum.stands(wal, at + 16)) break
    waiting.set(wal.readUInt32BE(at), content)
    const isCommit = wal.readUInt32BE(at + 4) > 0
    if (!isCommit) continue
    for (const [page, bytes] of waiting) committed.set(page, bytes)
    waiting.clear()
  }
  return committed
}
