/** A word of a list, with its edit distance from the typed word. */
export interface NearTerm {
  readonly term: string
  readonly distance: number
}

/** The first word of a list, sorted by code points, that is not less than `from`; undefined if there is none. */
export type Seek = (from: string) => string | undefined

export interface NearOptions {
  /** Largest edit distance: letters added, dropped, replaced, or swapped with their neighbour. */
  readonly distanceMax: number
  /** True if the word is still being typed. It is then compared with the beginnings of other words. */
  readonly isUnfinished?: boolean
  /** How many words are returned at most. */
  readonly foundMax?: number
  /** If it returns true, the walk stops with the words found so far. */
  readonly isOver?: () => boolean
}

/**
 * All words of a sorted list that are near a word, in list order. It needs no extra index: it skips words that cannot be
 * near by looking up the next beginning that can. So of a hundred thousand words it reads a few hundred.
 */
export function nearTerms(word: string, seek: Seek, options: NearOptions): readonly NearTerm[] {
  const { distanceMax, isUnfinished = false, foundMax = Infinity, isOver = () => false } = options
  const walk = new NearWalk(word, distanceMax)
  const found: NearTerm[] = []
  for (let from: string | null = ''; from !== null && found.length < foundMax && !isOver();) {
    const term = seek(from)
    if (term === undefined) break
    const step = walk.step(term)
    const distance = isUnfinished ? step.beginning : step.whole
    if (distance <= distanceMax) found.push({ term, distance })
    // All words with a near beginning are near, so the rest of them is skipped.
    from = isUnfinished && distance <= distanceMax ? `${term}\u0001` : step.next
  }
  return found
}

interface Step {
  /** Edit distance of the two words; Infinity if the limit was exceeded before the end. */
  readonly whole: number
  /** The same for the nearest beginning of the list's word. */
  readonly beginning: number
  /** The least word that can be near after this one; null if there is none. */
  readonly next: string | null
}

/** The edit distance table of the typed word. Rows are reused for the common beginning of consecutive words. */
class NearWalk {
  readonly #typed: readonly number[]
  /** Letters of the typed word, without duplicates, sorted. */
  readonly #letters: readonly number[]
  readonly #distanceMax: number
  readonly #rows: Uint8Array[] = []
  #path: readonly number[] = []

  constructor(word: string, distanceMax: number) {
    this.#typed = codePoints(word)
    this.#letters = [...new Set(this.#typed)].sort((a, b) => a - b)
    this.#distanceMax = distanceMax
    this.#rows.push(Uint8Array.from({ length: this.#typed.length + 1 }, (_, index) => index))
  }

  step(term: string): Step {
    const path = codePoints(term)
    let depth = this.#shared(path)
    this.#path = path
    let beginning = Infinity
    for (let at = 0; at <= depth; at += 1) beginning = Math.min(beginning, this.#distanceAt(at))
    for (; depth < path.length; depth += 1) {
      const row = this.#rowFor(depth, path[depth] ?? 0)
      if (least(row) > this.#distanceMax)
        return { whole: Infinity, beginning, next: this.#nextAlive(depth, path[depth] ?? 0) }
      this.#rows[depth + 1] = row
      beginning = Math.min(beginning, row.at(-1) ?? Infinity)
    }
    return { whole: this.#distanceAt(depth), beginning, next: this.#nextAlive(depth, 0) }
  }

  /** Keeps the rows of the common beginning with the last word. @returns their number */
  #shared(path: readonly number[]): number {
    let depth = 0
    const known = Math.min(this.#path.length, this.#rows.length - 1)
    while (depth < known && depth < path.length && path[depth] === this.#path[depth]) depth += 1
    this.#rows.length = depth + 1
    return depth
  }

  #distanceAt(depth: number): number {
    return this.#rows[depth]?.at(-1) ?? Infinity
  }

  /** One row of the Damerau–Levenshtein distance (optimal string alignment: adjacent letters are swapped at most once). */
  #rowFor(depth: number, letter: number): Uint8Array {
    const above = this.#rows[depth] ?? new Uint8Array()
    const twoAbove = depth > 0 ? this.#rows[depth - 1] : undefined
    const before = this.#path[depth - 1]
    const row = new Uint8Array(above.length)
    row[0] = depth + 1
    for (let at = 1; at < row.length; at += 1) {
      const typed = this.#typed[at - 1]
      let distance = Math.min(
        (above[at - 1] ?? 0) + (typed === letter ? 0 : 1),
        (above[at] ?? 0) + 1,
        (row[at - 1] ?? 0) + 1,
      )
      if (twoAbove !== undefined && at > 1 && typed === before && this.#typed[at - 2] === letter) {
        distance = Math.min(distance, (twoAbove[at - 2] ?? 0) + 1)
      }
      row[at] = distance
    }
    return row
  }

  /** The least beginning of a near word that sorts after the first `depth` letters of the path followed by `after`. */
  #nextAlive(depth: number, after: number): string | null {
    for (let at = depth, last = after; at >= 0; last = this.#path[at - 1] ?? 0, at -= 1) {
      const letter = this.#aliveLetter(at, last)
      if (letter !== null) return String.fromCodePoint(...this.#path.slice(0, at), letter)
    }
    return null
  }

  #aliveLetter(depth: number, after: number): number | null {
    if (least(this.#rows[depth] ?? new Uint8Array()) < this.#distanceMax) return following(after)
    return (
      this.#letters.find((letter) => letter > after && least(this.#rowFor(depth, letter)) <= this.#distanceMax) ?? null
    )
  }
}

const codePoints = (text: string): readonly number[] => Array.from(text, (sign) => sign.codePointAt(0) ?? 0)

function least(row: Uint8Array): number {
  let min = 255
  for (const distance of row) if (distance < min) min = distance
  return min
}

/** The next code point, without surrogates; null after the last one. */
function following(codePoint: number): number | null {
  if (codePoint >= 0x10ffff) return null
  return codePoint + 1 >= 0xd800 && codePoint < 0xdfff ? 0xe000 : codePoint + 1
}
