/** The indexed form of one character. */
interface Folded {
  readonly text: string
  readonly kind: number
}

/** The same with its place in the original text (UTF-16 offsets). */
interface Sign extends Folded {
  readonly start: number
  readonly end: number
}

// Numbers instead of strings: they are stored in a byte table, one per UTF-16 unit.
export const BREAK = 1
export const LOWER = 2
const UPPER = 3
const DIGIT = 4
const UNSPACED = 5
const EMOJI = 6
const MARK = 7
const UNSPACED_MARK = 8
const IGNORED = 9

/** Scripts without blanks between words. */
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const unspacedSign = new RegExp(
  `[${UNSPACED_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join('')}]`,
  'u',
)
// Soft hyphen, the stroke that stretches Arabic, joiners, byte order mark, variation selectors and enclosing marks change
// the look of a word, not the word.
const ignoredSign = /\u00ad|\u0640|\u200c|\u200d|\u2060|\ufeff|\p{Variation_Selector}|\p{Me}/u
const emojiSign = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/u
const wordSign = /[\p{L}\p{N}]/u
const upperSign = /[\p{Lu}\p{Lt}]/u
const digitSign = /\p{Nd}/u
const markSign = /\p{M}/u
const accentedScript = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Nd}]/u
const accents = /[\u0300-\u036f]/g
// Vowel points of these scripts are written for learners and for prayer, and hardly ever typed.
const pointedScript = /^[\p{Script=Arabic}\p{Script=Hebrew}]/u
const points = /\p{M}/gu

/** Letters that Unicode does not decompose, although people type them without strokes and ligatures. */
const plainLetters = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ı', 'i'],
  ['ς', 'σ'],
])

const kinds = new Uint8Array(0x1_0000)

/** The kind of a code point for the tokenizer. */
export function kindOf(codePoint: number): number {
  if (codePoint > 0xffff) return classify(codePoint)
  const known = kinds[codePoint] ?? 0
  if (known !== 0) return known
  const kind = classify(codePoint)
  kinds[codePoint] = kind
  return kind
}

function classify(codePoint: number): number {
  const sign = String.fromCodePoint(codePoint)
  if (ignoredSign.test(sign)) return IGNORED
  if (emojiSign.test(sign)) return EMOJI
  const isMark = markSign.test(sign)
  if (!isMark && !wordSign.test(sign)) return BREAK
  if (unspacedSign.test(sign)) return isMark ? UNSPACED_MARK : UNSPACED
  if (isMark) return MARK
  if (digitSign.test(sign)) return DIGIT
  return upperSign.test(sign) ? UPPER : LOWER
}

/**
 * Reads one character with its combining characters, folds it and appends the result. Text is folded cluster by cluster, so
 * every folded character keeps its place in the original.
 * @returns the offset after the cluster
 */
function appendCluster(text: string, start: number, into: Sign[]): number {
  const codePoint = text.codePointAt(start) ?? 0
  const baseEnd = start + (codePoint > 0xffff ? 2 : 1)
  const kind = kindOf(codePoint)
  if (kind === IGNORED || kind === MARK) return baseEnd
  if (kind === EMOJI) {
    into.push({ text: String.fromCodePoint(codePoint), kind, start, end: baseEnd })
    return baseEnd
  }
  const end = clusterEnd(text, baseEnd)
  // Field by field: an object spread took ten times as long as all other work per character.
  for (const folded of foldCluster(text.slice(start, end)))
    into.push({ text: folded.text, kind: folded.kind, start, end })
  return end
}

function clusterEnd(text: string, from: number): number {
  let end = from
  while (end < text.length) {
    const codePoint = text.codePointAt(end) ?? 0
    if (codePoint < 0x80 || !extendsCluster(codePoint)) break
    end += codePoint > 0xffff ? 2 : 1
  }
  return end
}

function extendsCluster(codePoint: number): boolean {
  // Conjoining vowels and finals of Hangul, and half-width voicing marks, are letters that compose with the former one.
  if ((codePoint >= 0x1160 && codePoint <= 0x11ff) || codePoint === 0xff9e || codePoint === 0xff9f) return true
  return isMark(kindOf(codePoint))
}

const CACHED_CLUSTERS_MAX = 20_000
const foldedClusters = new Map<string, readonly Folded[]>()

function foldCluster(cluster: string): readonly Folded[] {
  const known = foldedClusters.get(cluster)
  if (known !== undefined) return known
  const folded = Array.from(plainSpelling(cluster), foldSign).filter((sign) => sign.kind !== IGNORED)
  if (cluster.length > 4) return folded
  if (foldedClusters.size >= CACHED_CLUSTERS_MAX) foldedClusters.clear()
  foldedClusters.set(cluster, folded)
  return folded
}

function plainSpelling(cluster: string): string {
  const decomposed = cluster.normalize('NFKD')
  if (pointedScript.test(decomposed)) return decomposed.replaceAll(points, '')
  // In other scripts the marks are vowels or voicing: が is not か, and Thai needs its vowels.
  const stripped = accentedScript.test(decomposed) ? decomposed.replaceAll(accents, '') : decomposed
  return stripped.normalize('NFC')
}

function foldSign(sign: string): Folded {
  const lower = sign.toLowerCase()
  return { text: plainLetters.get(lower) ?? lower, kind: kindOf(sign.codePointAt(0) ?? 0) }
}

/** A term as indexed, and its place in the original text: UTF-16 offsets, end exclusive. */
export interface Term {
  readonly term: string
  readonly start: number
  readonly end: number
}

/** Longer terms are cut to this many UTF-16 units, both in the index and in queries. */
export const TERM_LENGTH_MAX = 64

// A run without separators is folded in slices of this many characters, so a blob needs no more memory than a line.
const RUN_SIGNS_MAX = 4096

/** Eight or more hexadecimal digits in one case, with both letters and digits. Splitting them would only fill the index. */
const HASH = String.raw`(?:(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{8,}|(?=[A-F]*\d)(?=\d*[A-F])[\dA-F]{8,})`
const wholeHash = new RegExp(`^${HASH}$`)
/**
 * The terms of an ASCII text. A part of a word starts between letters and digits, at a capital after a small letter
 * (`getUser`), and at the last of several capitals before a small letter (`HTTPServer`).
 */
const asciiParts = new RegExp(
  // Most words are one part. So that is tried first.
  String.raw`[A-Z]?[a-z]+(?![A-Za-z\d])|(?<![A-Za-z\d])${HASH}(?![A-Za-z\d])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+`,
  'g',
)
/** Small words that are terms themselves. */
const isPlain = /^[a-z ]{1,64}$/
/** A run without ASCII separators that has other characters. */
const mixedRun = /(?<![A-Za-z\d\u0080-\uffff])[A-Za-z\d]*[\u0080-\uffff][A-Za-z\d\u0080-\uffff]*/g
/** Where such a capital starts a part, with the rest of the ASCII word. */
const hump = /(?:[a-z][A-Z]|[A-Z]{2}[a-z])[A-Za-z\d]*/g

/** Separates words that are not neighbours, so that no phrase matches across. A private-use character. */
export const GAP_TERM = '\ue000'

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

/** The same without places. */
export const termsOf = (text: string): readonly string[] => tokenize(text).map(({ term }) => term)

/**
 * The terms joined by single spaces, for a full-text table with `tokenize = 'ascii'`. After them come the lower-case
 * spellings of camel-case words, each once and after a gap.
 */
export function indexTerms(text: string): string {
  const lowered = new Set<string>()
  visitLoweredWords(text, (word) => lowered.add(word))
  return [
    spacedTerms(text),
    ...[...lowered].map((word) => `${GAP_TERM} ${isPlain.test(word) ? word : asciiTerms(word)}`),
  ]
    .join(' ')
    .trimStart()
}

/** The same as UTF-8, which the list of all terms is made of. */
export const indexTermBytes = (text: string): Buffer => Buffer.from(indexTerms(text))

function spacedTerms(text: string): string {
  if (Buffer.byteLength(text) === text.length) return asciiTerms(text)
  const terms: string[] = []
  let at = 0
  for (const { 0: run, index } of text.matchAll(mixedRun)) {
    terms.push(asciiTerms(text.slice(at, index)))
    visitTerms(run, (term) => terms.push(term))
    at = index + run.length
  }
  return [...terms, asciiTerms(text.slice(at))].filter((term) => term !== '').join(' ')
}

function asciiTerms(text: string): string {
  const parts = text.match(asciiParts) ?? []
  const isLong = parts.some(({ length }) => length > TERM_LENGTH_MAX)
  return (isLong ? parts.map((part) => part.slice(0, TERM_LENGTH_MAX)) : parts).join(' ').toLowerCase()
}

/**
 * Calls `visit` with the lower-case spellings of each ASCII word in camel case. `JavaScript` is indexed as `java script`,
 * but users also type `javascript`, so the index contains both.
 * @param from and `to` are ends of the text, or positions of an ASCII character that separates words
 */
export function visitLoweredWords(text: string, visit: VisitTerm, from = 0, to = text.length): void {
  // The rest of the text is not searched for a next word.
  const piece = from === 0 && to === text.length ? text : text.slice(from, to)
  for (const { 0: rest, index } of piece.matchAll(hump)) {
    const end = index + rest.length
    let start = index
    while (start > 0 && isAlphanumeric(piece.charCodeAt(start - 1))) start -= 1
    if (!isWholeWord(piece, start, end)) continue
    for (const lowered of lowerSpellings(piece.slice(start, end))) visit(lowered, from + start, from + end)
  }
}

const isAlphanumeric = (unit: number): boolean => unit < 0x80 && kindOf(unit) !== BREAK

/**
 * A camel-case word in one piece. If it has several capitals before a small letter, also in pieces that begin only after
 * small letters: `isIPv6` is split into `is i pv 6`, but others write `is_ipv6`.
 */
function lowerSpellings(word: string): readonly string[] {
  const whole = word.toLowerCase()
  if (!/[A-Z]{2}[a-z]/.test(word)) return [whole]
  const parted = word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return parted === whole ? [whole] : [whole, parted]
}

/** Whether the word has only ASCII characters. Other words get no lower-case spelling. */
function isWholeWord(text: string, start: number, end: number): boolean {
  // A mark belongs to the character before it in any script, so it does not separate words. The same is true for a
  // variation selector that makes an emoji of a plain character: `⚠️GitHub`.
  let before = signBefore(text, start)
  while (before >= 0 && isMark(kindOf(text.codePointAt(before) ?? 0))) before = signBefore(text, before)
  return isApart(text, before) && isApart(text, end)
}

const isMark = (kind: number): boolean => kind === MARK || kind === UNSPACED_MARK || kind === IGNORED

/** Start of the character that ends at this offset; less than 0 if there is none. */
const signBefore = (text: string, at: number): number =>
  at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1

/** Unspaced scripts have no blanks around names: `GitHub로`, `用GitHub登录`. */
function isApart(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return true
  const kind = kindOf(text.codePointAt(at) ?? 0)
  return kind === BREAK || kind === UNSPACED || kind === EMOJI
}

/** True for a term of one character of an unspaced script. The index mostly contains it as the start of a pair. */
export function isUnspacedSign(term: string): boolean {
  const codePoint = term.codePointAt(0) ?? 0
  if (term.length !== (codePoint > 0xffff ? 2 : 1)) return false
  return isUnspacedKind(kindOf(codePoint))
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

function asciiRunEnd(text: string, from: number): number {
  let end = from
  while (end < text.length && isAlphanumeric(text.charCodeAt(end))) end += 1
  return end
}

function visitAsciiWord(text: string, start: number, end: number, visit: VisitTerm): void {
  asciiParts.lastIndex = start
  for (let part = asciiParts.exec(text); part !== null && part.index < end; part = asciiParts.exec(text)) {
    const from = part.index
    const to = from + part[0].length
    visit(part[0].slice(0, TERM_LENGTH_MAX).toLowerCase(), from, to)
    asciiParts.lastIndex = to
  }
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
  for (const { 0: shape, index } of shapeOf(signs).matchAll(stretchShapes)) {
    const stretch = signs.slice(index, index + shape.length)
    const isHash =
      shape.includes('0') && !(shape.includes('a') && shape.includes('A')) && wholeHash.test(textOf(stretch))
    if (shape.startsWith('u')) visitPairs(stretch, visit)
    else if (isHash || shape.length === 1) visitPart(stretch, visit)
    else
      for (const { 0: part, index: from } of shape.matchAll(partShapes))
        visitPart(stretch.slice(from, from + part.length), visit)
  }
  return at
}

/** Khmer, Lao and Thai are often typed with a zero-width space between words, which others leave out. */
const isHiddenSpace = (text: string, at: number, before = BREAK): boolean =>
  text.charCodeAt(at) === 0x200b && (isUnspacedKind(before) || before === MARK)

const isUnspacedKind = (kind = BREAK): boolean => kind === UNSPACED || kind === UNSPACED_MARK

/** One letter for each kind, by its number. */
const SHAPES = '  aA0uemu'
/** An emoji, a stretch of an unspaced script, and a word. */
const stretchShapes = /e|u+|[maA0]+/g
/** The parts of a word, as in `asciiParts`. */
const partShapes = /m*(?:A?a+|A+(?!a))|m+|0+/g

/** The kinds of the signs as a text. A mark has the kind of the sign before it. */
function shapeOf(signs: readonly Sign[]): string {
  let [shape, last] = ['', ' ']
  for (const { kind } of signs) {
    if (kind !== MARK || last === ' ' || last === 'e') last = SHAPES.charAt(kind)
    shape += last
  }
  return shape
}

function visitPairs(signs: readonly Sign[], visit: VisitTerm): void {
  for (const [index, sign] of signs.entries()) {
    const next = signs[index + 1]
    visit(sign.text + (next?.text ?? ''), sign.start, (next ?? sign).end)
  }
}

function visitPart(part: readonly Sign[], visit: VisitTerm): void {
  const [first, last] = [part[0], part.at(-1)]
  if (first !== undefined && last !== undefined) visit(cutTerm(textOf(part)), first.start, last.end)
}

const textOf = (signs: readonly Sign[]): string => signs.map(({ text }) => text).join('')

function cutTerm(term: string): string {
  if (term.length <= TERM_LENGTH_MAX) return term
  const isInsidePair = (term.codePointAt(TERM_LENGTH_MAX - 1) ?? 0) > 0xffff
  return term.slice(0, isInsidePair ? TERM_LENGTH_MAX - 1 : TERM_LENGTH_MAX)
}
