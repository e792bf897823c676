import { GAP_TERM, lowerSpellings } from './lowered-words.ts'
import { BREAK, DIGIT } from './signs.ts'
import {
  asciiKinds,
  asciiTraits,
  HASH_LENGTH_MIN,
  isHash,
  isHashOf,
  isHump,
  isPartStart,
  SMALL_TRAITS,
  TERM_LENGTH_MAX,
} from './word-parts.ts'

const SPACE = 0x20
const GAP = Buffer.from(` ${GAP_TERM} `)
const lowerUnits = Uint8Array.from({ length: 128 }, (_, unit) => String.fromCharCode(unit).toLowerCase().charCodeAt(0))

/** Size of the reused buffers: the first index run reads hundreds of megabytes. A longer text gets buffers of its own. */
const REUSED_LENGTH_MAX = 131_072
/** Worst case of term bytes per text byte: each character is a term, in a word that is written three times. */
const TERMS_GROWTH_MAX = 7
const ROOM = 4
let reused: Work | null = null

interface Work {
  /** The text as bytes, with a little room after it. */
  readonly units: Buffer
  readonly terms: Buffer
}

const makeWork = (length: number): Work => ({
  units: Buffer.allocUnsafe(length + ROOM),
  terms: Buffer.allocUnsafe(length * TERMS_GROWTH_MAX),
})

/**
 * The terms of an ASCII text, joined by single spaces; null for any other text. After them come the lower-case spellings of
 * camel-case words, each once and after a gap. The result is bytes, so no string is created per term.
 */
export function cutAscii(text: string): Buffer | null {
  const { units, terms } = workFor(text.length)
  if (!isAscii(text, units)) return null
  const lowered = new Set<string>()
  let length = writeTerms(text, units, terms, lowered)
  for (const spelling of lowered) {
    length += GAP.copy(terms, length)
    length = writeSpelling(spelling, terms, length)
  }
  return Buffer.from(terms.subarray(0, length))
}

/** The terms of an ASCII text, without lower-case spellings. */
export function asciiTerms(text: string): string {
  const { units, terms } = workFor(text.length)
  return isAscii(text, units) ? terms.toString('latin1', 0, writeTerms(text, units, terms, null)) : ''
}

function workFor(length: number): Work {
  return length > REUSED_LENGTH_MAX ? makeWork(length) : (reused ??= makeWork(REUSED_LENGTH_MAX))
}

/** True if there are as many bytes as UTF-16 units: only ASCII takes one byte each. The room ensures that nothing is cut. */
const isAscii = (text: string, units: Buffer): boolean =>
  units.write(text, 0, text.length + ROOM, 'utf8') === text.length

/** @returns how many bytes were written */
function writeTerms(text: string, units: Uint8Array, terms: Uint8Array, lowered: Set<string> | null): number {
  let length = 0
  let at = 0
  while (at < text.length) {
    const start = at
    const from = length === 0 ? 0 : length + 1
    let to = from
    let seen = 0
    // Terms are written while reading, because most words are one term.
    for (; at < text.length; at += 1) {
      const unit = units[at] ?? 0
      const trait = asciiTraits[unit] ?? 0
      if (trait === 0) break
      seen |= trait
      terms[to++] = lowerUnits[unit] ?? 0
    }
    if (at === start) {
      at += 1
      continue
    }
    if (from > 0) terms[length] = SPACE
    if ((seen & ~SMALL_TRAITS) === 0 || (at - start >= HASH_LENGTH_MIN && isHashOf(seen))) {
      length = Math.min(to, from + TERM_LENGTH_MAX)
      continue
    }
    length = writeParts(units, start, at, terms, from)
    if (lowered === null || !hasHump(units, start, at)) continue
    for (const spelling of lowerSpellings(text.slice(start, at))) lowered.add(spelling)
  }
  return length
}

/** Writes lower-case words that are neighbours. @returns their end */
function writeSpelling(spelling: string, terms: Uint8Array, from: number): number {
  let to = from
  for (const word of spelling.split(' ')) {
    if (to > from) terms[to++] = SPACE
    to = writeLowered(word, terms, to)
  }
  return to
}

/** Writes a lower-case word, in which only digits are separate parts. @returns its end */
function writeLowered(word: string, terms: Uint8Array, from: number): number {
  const isWhole = isHash(word, 0, word.length)
  let to = from
  let partStart = 0
  let wasDigit = false
  for (let at = 0; at < word.length; at += 1) {
    const unit = word.charCodeAt(at)
    const isDigit = asciiKinds[unit] === DIGIT
    if (at > 0 && isDigit !== wasDigit && !isWhole) {
      terms[to++] = SPACE
      partStart = at
    }
    if (at - partStart < TERM_LENGTH_MAX) terms[to++] = unit
    wasDigit = isDigit
  }
  return to
}

/** Writes the parts of the word from `start` to `end`. @returns their end in `terms` */
function writeParts(units: Uint8Array, start: number, end: number, terms: Uint8Array, from: number): number {
  let to = from
  let partStart = start
  let before = BREAK
  for (let at = start; at < end; at += 1) {
    const unit = units[at] ?? 0
    const kind = asciiKinds[unit] ?? BREAK
    if (at > start && isPartStart(before, kind, at + 1 < end ? kindAt(units, at + 1) : BREAK)) {
      terms[to++] = SPACE
      partStart = at
    }
    if (at - partStart < TERM_LENGTH_MAX) terms[to++] = lowerUnits[unit] ?? 0
    before = kind
  }
  return to
}

function hasHump(units: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at += 1) {
    const after = at + 1 < end ? kindAt(units, at + 1) : BREAK
    if (isHump(kindAt(units, at - 1), kindAt(units, at), after)) return true
  }
  return false
}

const kindAt = (units: Uint8Array, at: number): number => asciiKinds[units[at] ?? 0] ?? BREAK
