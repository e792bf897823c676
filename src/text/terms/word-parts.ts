import { BREAK, DIGIT, kindOf, LOWER, UPPER } from './signs.ts'

/** Longer terms are cut to this many UTF-16 units, both in the index and in queries. */
export const TERM_LENGTH_MAX = 64

export const HASH_LENGTH_MIN = 8

/** The kind of each ASCII character: `BREAK`, `LOWER`, `UPPER` or `DIGIT`. */
export const asciiKinds = Uint8Array.from({ length: 128 }, (_, unit) => kindOf(unit))

/** A capital after a small letter (`getUser`), or the last of several capitals before a small letter (`HTTPServer`). */
export function isHump(before: number, kind: number, after: number): boolean {
  return kind === UPPER && (before === LOWER || (before === UPPER && after === LOWER))
}

/** A part starts between letters and digits, and at a hump (see `isHump`). */
export function isPartStart(before: number, kind: number, after: number): boolean {
  return (before === DIGIT) !== (kind === DIGIT) || isHump(before, kind, after)
}

/** Eight or more hexadecimal digits in one case, with both letters and digits. Splitting them would only fill the index. */
export function isHash(text: string, start: number, end: number): boolean {
  if (end - start < HASH_LENGTH_MIN) return false
  let seen = 0
  for (let at = start; at < end; at += 1) {
    const trait = asciiTraits[text.charCodeAt(at)] ?? OTHER_TRAIT
    if (trait > HEX_TRAITS_MAX) return false
    seen |= trait
  }
  return isHashOf(seen)
}

/** Traits of characters as bits, combined with OR for a word. Digits and the letters up to F have the lowest bits. */
export const DIGIT_TRAIT = 1
const LOWER_HEX_TRAIT = 2
const UPPER_HEX_TRAIT = 4
const HEX_TRAITS_MAX = 4
const LOWER_TRAIT = 8
const OTHER_TRAIT = 16

/** The only bits of a word of small letters. */
export const SMALL_TRAITS = LOWER_HEX_TRAIT | LOWER_TRAIT

/** 0 for a character that is not part of a word. */
export const asciiTraits = Uint8Array.from({ length: 128 }, (_, unit) => traitOf(unit))

function traitOf(unit: number): number {
  if (asciiKinds[unit] === BREAK) return 0
  if (asciiKinds[unit] === DIGIT) return DIGIT_TRAIT
  const isHex = /[a-f]/i.test(String.fromCharCode(unit))
  if (asciiKinds[unit] === UPPER) return isHex ? UPPER_HEX_TRAIT : OTHER_TRAIT
  return isHex ? LOWER_HEX_TRAIT : LOWER_TRAIT
}

/** @param seen the combined traits of a word that is long enough */
export const isHashOf = (seen: number): boolean =>
  seen === (DIGIT_TRAIT | LOWER_HEX_TRAIT) || seen === (DIGIT_TRAIT | UPPER_HEX_TRAIT)
