import { asciiTerms, cutAscii } from './ascii-terms.ts'
import { GAP_TERM, visitLoweredWords } from './lowered-words.ts'
import { appendCluster, BREAK, EMOJI, kindOf, LOWER, MARK, UNSPACED, UNSPACED_MARK, UPPER, type Sign } from './signs.ts'
import { asciiKinds, isHash, isPartStart, TERM_LENGTH_MAX } from './word-parts.ts'

/** A term as indexed, and its place in the original text: UTF-16 offsets, end exclusive. */
export interface Term {
  readonly term: string
  readonly start: number
  readonly end: number
}

// A run without separators is folded in slices of this many characters, so a blob needs no more memory than a line.
const RUN_SIGNS_MAX = 4096

type VisitTerm = (term: string, start: number, end: number) => void

/**
 * Splits text into its index terms, in order. Identifiers are split into their parts, so all spellings of the same parts
 * give the same consecutive terms. Unspaced scripts give overlapping pairs of characters, and the last character alone. It
 * never fails: any string has a list of terms.
 */
export function tokenize(text: string): Term[] {
  const terms: Term[] = []
  visitTerms(text, (term, start, end) => terms.push({ term, start, end }))
  return terms
}

/**
 * The terms joined by single spaces, for a full-text table with `tokenize = 'ascii'`. After them come the lower-case
 * spellings of camel-case words, each once and after a gap.
 */
export const indexTerms = (text: string): string => cutAscii(text)?.toString('utf8') ?? mixedTerms(text)

/** The same as UTF-8 bytes, which SQLite accepts. For most texts, no string is created. */
export const indexTermBytes = (text: string): Buffer => cutAscii(text) ?? Buffer.from(mixedTerms(text))

function mixedTerms(text: string): string {
  const pieces = spacedTerms(text)
  const lowered = new Set<string>()
  visitLoweredWords(text, (word) => lowered.add(word))
  return [...pieces, ...[...lowered].map((word) => `${GAP_TERM} ${asciiTerms(word)}`)].join(' ')
}

function spacedTerms(text: string): string[] {
  const pieces: string[] = []
  let at = 0
  while (at < text.length) {
    const beyond = asciiEnd(text, at)
    const runStart = beyond === text.length ? beyond : lastRunStart(text, at, beyond)
    const ascii = asciiTerms(text.slice(at, runStart))
    if (ascii !== '') pieces.push(ascii)
    if (runStart === text.length) break
    at = kindAt(text, runStart) === BREAK ? runStart + 1 : visitRun(text, runStart, (term) => pieces.push(term))
  }
  return pieces
}

/** True for a term of one character of an unspaced script. The index mostly contains it as the start of a pair. */
export function isUnspacedSign(term: string): boolean {
  const codePoint = term.codePointAt(0) ?? 0
  if (term.length !== (codePoint > 0xffff ? 2 : 1)) return false
  const kind = kindOf(codePoint)
  return kind === UNSPACED || kind === UNSPACED_MARK
}

/**
 * Calls `visit` for each term, in order, without collecting them.
 * @param from and `to` are ends of the text, or positions of an ASCII character that separates words
 */
export function visitTerms(text: string, visit: VisitTerm, from = 0, to = text.length): void {
  let at = from
  while (at < to) {
    if (kindAt(text, at) === BREAK) {
      at += 1
      continue
    }
    const end = asciiRunEnd(text, at)
    const isPlainWord = end > at && (end === text.length || kindAt(text, end) === BREAK)
    if (isPlainWord) visitAsciiWord(text, at, end, visit)
    at = isPlainWord ? end : visitRun(text, at, visit)
  }
}

// The first unit of a surrogate pair does not tell the kind; only the code point does.
function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff ? kindOf(text.codePointAt(at) ?? 0) : kindOf(unit)
}

function asciiEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && text.charCodeAt(end) < 0x80) end += 1
  return end
}

/** Start of the word that contains the non-ASCII character at `at`. */
function lastRunStart(text: string, from: number, at: number): number {
  let start = at
  while (start > from && asciiKind(text, start - 1) !== BREAK) start -= 1
  return start
}

function asciiRunEnd(text: string, from: number): number {
  let end = from
  while (end < text.length) {
    const unit = text.charCodeAt(end)
    if (unit > 0x7f || asciiKinds[unit] === BREAK) break
    end += 1
  }
  return end
}

function asciiKind(text: string, at: number): number {
  return asciiKinds[text.charCodeAt(at)] ?? BREAK
}

function visitAsciiWord(text: string, start: number, end: number, visit: VisitTerm): void {
  let from = start
  while (from < end) {
    const to = asciiPartEnd(text, from, start, end)
    visit(text.slice(from, Math.min(to, from + TERM_LENGTH_MAX)).toLowerCase(), from, to)
    from = to
  }
}

function asciiPartEnd(text: string, from: number, wordStart: number, wordEnd: number): number {
  if (from === wordStart && isHash(text, wordStart, wordEnd)) return wordEnd
  let before = asciiKind(text, from)
  for (let at = from + 1; at < wordEnd; at += 1) {
    const kind = asciiKind(text, at)
    if (isPartStart(before, kind, at + 1 < wordEnd ? asciiKind(text, at + 1) : BREAK)) return at
    before = kind
  }
  return wordEnd
}

/** Visits a run with non-ASCII characters. @returns the offset after it */
function visitRun(text: string, start: number, visit: VisitTerm): number {
  const signs: Sign[] = []
  let at = start
  while (at < text.length && signs.length < RUN_SIGNS_MAX) {
    if (isHiddenSpace(text, at, signs.at(-1)?.kind)) at += 1
    else if (kindAt(text, at) === BREAK) break
    else at = appendCluster(text, at, signs)
  }
  let from = 0
  while (from < signs.length) from = visitStretch(signs, from, visit)
  return at
}

/** Khmer, Lao and Thai are often typed with a zero-width space between words, which others leave out. */
const isHiddenSpace = (text: string, at: number, before = BREAK): boolean =>
  text.charCodeAt(at) === 0x200b && (isUnspacedKind(before) || before === MARK)

/** Visits one emoji, one stretch of an unspaced script, or one word. @returns the index of the sign after it */
function visitStretch(signs: readonly Sign[], from: number, visit: VisitTerm): number {
  const first = signs[from]
  if (first === undefined || first.kind === BREAK) return from + 1
  if (first.kind === EMOJI) {
    visit(first.text, first.start, first.end)
    return from + 1
  }
  const isUnspaced = isUnspacedKind(first.kind)
  let to = from + 1
  while (to < signs.length && continues(signs[to]?.kind ?? BREAK, isUnspaced)) to += 1
  const stretch = signs.slice(from, to)
  if (isUnspaced) visitPairs(stretch, visit)
  else visitWord(stretch, visit)
  return to
}

function isUnspacedKind(kind: number): boolean {
  return kind === UNSPACED || kind === UNSPACED_MARK
}

function continues(kind: number, isUnspaced: boolean): boolean {
  if (kind === BREAK || kind === EMOJI) return false
  return kind === MARK || isUnspacedKind(kind) === isUnspaced
}

function visitPairs(signs: readonly Sign[], visit: VisitTerm): void {
  for (const [index, sign] of signs.entries()) {
    const next = signs[index + 1]
    if (next === undefined) visit(sign.text, sign.start, sign.end)
    else visit(sign.text + next.text, sign.start, next.end)
  }
}

function visitWord(signs: readonly Sign[], visit: VisitTerm): void {
  const folded = signs.map((sign) => sign.text).join('')
  const isWhole = isHash(folded, 0, folded.length) && isOneCase(signs)
  let part: Sign[] = []
  let before = BREAK
  for (const [index, sign] of signs.entries()) {
    const kind = sign.kind === MARK ? before : sign.kind
    if (part.length > 0 && !isWhole && isPartStart(before, kind, signs[index + 1]?.kind ?? BREAK)) {
      visitPart(part, visit)
      part = []
    }
    part.push(sign)
    before = kind
  }
  visitPart(part, visit)
}

function isOneCase(signs: readonly Sign[]): boolean {
  return !(signs.some((sign) => sign.kind === UPPER) && signs.some((sign) => sign.kind === LOWER))
}

function visitPart(part: readonly Sign[], visit: VisitTerm): void {
  const first = part[0]
  const last = part.at(-1)
  if (first === undefined || last === undefined) return
  visit(cutTerm(part.map((sign) => sign.text).join('')), first.start, last.end)
}

function cutTerm(term: string): string {
  if (term.length <= TERM_LENGTH_MAX) return term
  const isInsidePair = (term.codePointAt(TERM_LENGTH_MAX - 1) ?? 0) > 0xffff
  return term.slice(0, isInsidePair ? TERM_LENGTH_MAX - 1 : TERM_LENGTH_MAX)
}
