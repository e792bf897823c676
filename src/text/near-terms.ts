/** A word of a list, with its edit distance from the typed word. */
export interface NearTerm {
  readonly term: string
  readonly distance: number
}

/** The first word of a list, sorted by code points, that is not less than `from`; undefined if there is none. */
export type Seek = (from: string) => string | undefined

interface NearOptions {
  /** Largest edit distance: letters added, dropped, replaced, or swapped with their neighbour. */
  readonly distanceMax: number
  /** True if the word is still being typed. It is then compared with the beginnings of other words. */
  readonly isUnfinished?: boolean
  /** How many words are returned at most. */
  readonly foundMax?: number
}

/**
 * All words of a sorted list that are near a word, in list order. It needs no extra index: it skips words that cannot be
 * near by looking up the next beginning that can. So of a hundred thousand words it reads a few hundred.
 */
export function nearTerms(
  word: string,
  seek: Seek,
  { distanceMax, isUnfinished = false, foundMax = Infinity }: NearOptions,
): readonly NearTerm[] {
  const typed = codePoints(word)
  const found: NearTerm[] = []
  for (let from: string | null = ''; from !== null && found.length < foundMax;) {
    const term = seek(from)
    if (term === undefined) break
    const path = codePoints(term)
    const rows: Row[] = [[0, ...typed.map((_, at) => at + 1)]]
    while (rows.length <= path.length && least(rows.at(-1)) <= distanceMax) rows.push(rowAfter(typed, rows, path))
    const isHopeless = least(rows.at(-1)) > distanceMax
    const whole = isHopeless ? Infinity : distanceIn(rows.at(-1))
    const distance = isUnfinished ? Math.min(...rows.map(distanceIn)) : whole
    if (distance <= distanceMax) found.push({ term, distance })
    const isGoingOn = isUnfinished && distance <= distanceMax
    from = isGoingOn ? `${term}\u0001` : nextAlive(typed, isHopeless ? rows.slice(0, -1) : rows, path, distanceMax)
  }
  return found
}

/** Whether two words differ by at most so many letters, or a word from the beginning of another one that is still typed. */
export function isNear(typed: string, word: string, distanceMax: number, isUnfinished = false): boolean {
  const seek: Seek = (from) => (word >= from ? word : undefined)
  return nearTerms(typed, seek, { distanceMax, isUnfinished }).length > 0
}

const codePoints = (text: string): readonly number[] => Array.from(text, (sign) => sign.codePointAt(0) ?? 0)

/** The distances of one beginning of the list's word from each beginning of the typed word. */
type Row = readonly number[]

const least = (row: Row = []): number => Math.min(...row)
const distanceIn = (row: Row = []): number => row.at(-1) ?? Infinity

/**
 * The next row of the Damerau–Levenshtein distance (optimal string alignment: adjacent letters are swapped at most once).
 * @param rows those of the shorter beginnings @param path the letters of the list's word
 */
function rowAfter(typed: readonly number[], rows: readonly Row[], path: readonly number[]): Row {
  const depth = rows.length - 1
  const [above = [], twoAbove] = [rows[depth], rows[depth - 1]]
  const row = [depth + 1]
  for (const [at, letter] of typed.entries()) {
    const isSwapped = at > 0 && letter === path[depth - 1] && typed[at - 1] === path[depth]
    const swapped = isSwapped ? (twoAbove?.[at - 1] ?? Infinity) + 1 : Infinity
    const replaced = (above[at] ?? 0) + (letter === path[depth] ? 0 : 1)
    row.push(Math.min(replaced, swapped, (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1))
  }
  return row
}

/** The least beginning of a near word behind this one; null if there is none. @param rows those from which words go on */
function nextAlive(
  typed: readonly number[],
  rows: readonly Row[],
  path: readonly number[],
  most: number,
): string | null {
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const before = path.slice(0, at)
    const after = path[at] ?? 0
    const isAlive = (letter: number): boolean =>
      least(rowAfter(typed, rows.slice(0, at + 1), [...before, letter])) <= most
    const letters = typed.filter((letter) => letter > after && isAlive(letter))
    const letter = least(rows[at]) < most ? following(after) : least(letters)
    if (letter !== null && letter < Infinity) return String.fromCodePoint(...before, letter)
  }
  return null
}

/** The next code point, without surrogates; null after the last one. */
function following(codePoint: number): number | null {
  if (codePoint >= 0x10ffff) return null
  return codePoint + 1 >= 0xd800 && codePoint < 0xdfff ? 0xe000 : codePoint + 1
}
