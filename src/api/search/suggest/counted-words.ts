import { nearTerms, type NearTerm } from '../../../text/near-terms.ts'

export interface CountedWord {
  readonly word: string
  readonly count: number
}

/** How many near words are compared. */
const NEAR_MAX = 500

/** Sorted words with the number of messages that contain each. Takes a few bytes for each word. */
export class CountedWords {
  readonly #words: readonly string[]
  readonly #counts: Uint32Array

  /** @param words sorted, without duplicates and without characters above U+FFFF */
  constructor(words: readonly string[], counts: readonly number[]) {
    this.#words = words
    this.#counts = Uint32Array.from(counts)
  }

  get size(): number {
    return this.#words.length
  }

  /** Words with this prefix, most frequent first. */
  startingWith(beginning: string, most: number): readonly CountedWord[] {
    const found: CountedWord[] = []
    for (let at = this.#placeOf(beginning); at < this.#words.length; at += 1) {
      const word = this.#words[at] ?? ''
      if (!word.startsWith(beginning)) break
      found.push({ word, count: this.#counts[at] ?? 0 })
    }
    return found.sort((a, b) => b.count - a.count).slice(0, most)
  }

  /** Words whose beginning is near this one: nearest first, then most frequent. */
  near(beginning: string, distanceMax: number, most: number): readonly (CountedWord & NearTerm)[] {
    const seek = (from: string): string | undefined => this.#words[this.#placeOf(from)]
    const near = nearTerms(beginning, seek, { distanceMax, isUnfinished: true, foundMax: NEAR_MAX })
    return near
      .map((each) => ({ ...each, word: each.term, count: this.#counts[this.#placeOf(each.term)] ?? 0 }))
      .sort((a, b) => a.distance - b.distance || b.count - a.count)
      .slice(0, most)
  }

  /** The index of a word, or the index at which it would be inserted. */
  #placeOf(word: string): number {
    let low = 0
    let high = this.#words.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#words[middle] ?? '') < word) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Takes words in order and keeps the most frequent. Stores at most twice the wanted number. */
export class WordGatherer {
  readonly #max: number
  #words: string[] = []
  #counts: number[] = []

  constructor(max: number) {
    this.#max = max
  }

  add(word: string, count: number): void {
    this.#words.push(word)
    this.#counts.push(count)
    if (this.#words.length >= 2 * this.#max) this.#drop()
  }

  finish(): CountedWords {
    this.#drop()
    return new CountedWords(this.#words, this.#counts)
  }

  /** Drops the rarest words. Of equally rare ones, the first stay. */
  #drop(): void {
    if (this.#words.length <= this.#max) return
    const least = this.#counts.toSorted((a, b) => b - a)[this.#max - 1] ?? 0
    let room = this.#max - this.#counts.filter((count) => count > least).length
    const kept = this.#counts.map((count) => count > least || (count === least && (room -= 1) >= 0))
    this.#words = this.#words.filter((_, at) => kept[at])
    this.#counts = this.#counts.filter((_, at) => kept[at])
  }
}
