/** One folded character: its indexed form, and its place in the original text (UTF-16 offsets). */
export interface Sign {
  readonly text: string
  readonly kind: number
  readonly start: number
  readonly end: number
}

// Numbers instead of strings: they are stored in a byte table, one per UTF-16 unit.
export const BREAK = 1
export const LOWER = 2
export const UPPER = 3
export const DIGIT = 4
export const UNSPACED = 5
export const EMOJI = 6
export const MARK = 7
export const UNSPACED_MARK = 8
export const IGNORED = 9

/** Scripts without blanks between words. */
export const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
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
export function appendCluster(text: string, start: number, into: Sign[]): number {
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
  const kind = kindOf(codePoint)
  return kind === MARK || kind === UNSPACED_MARK || kind === IGNORED
}

interface Folded {
  readonly text: string
  readonly kind: number
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
