import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** The kind of sources for restored data: one for each mirror whose archives were restored. They have no live rows. */
export const ARCHIVE = 'archive'

/** The kind of sources for chats of other machines, one for each kind of store that they were read from. */
export const HUB = 'hub'

const LIST_RANKS = `select num, rank, kind from sources`

/** Precedence of sources that hold the same chat: the lowest rank first, then the source that was added first. */
export class SourceRanks {
  readonly #ranks: ReadonlyMap<number, number>
  readonly #archives: ReadonlySet<number>

  constructor(db: Mirror) {
    const rows = prepared<{ num: number; rank: number; kind: string }>(db, LIST_RANKS).all()
    this.#ranks = new Map(rows.map(({ num, rank }) => [num, rank]))
    this.#archives = new Set(rows.filter(({ kind }) => kind === ARCHIVE || kind === HUB).map(({ num }) => num))
  }

  of(source: number): number {
    return this.#ranks.get(source) ?? Number.MAX_SAFE_INTEGER
  }

  /** Whether what it says was noted elsewhere: in an archive, or by another machine. */
  isArchive(source: number): boolean {
    return this.#archives.has(source)
  }

  /** The better source first. */
  compare(a: number, b: number): number {
    return this.of(a) - this.of(b) || a - b
  }

  best(sources: readonly number[]): number | null {
    let best: number | null = null
    for (const source of sources) {
      if (best === null || this.compare(source, best) < 0) best = source
    }
    return best
  }
}
