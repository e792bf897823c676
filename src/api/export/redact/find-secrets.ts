import { shownFor } from '../../../text/passages/stretches.ts'
import { secretRules, type RuleGroup, type SecretRule } from './rules.ts'

/** A secret in a text; `end` is exclusive. */
export interface SecretSpan {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/** UTF-16 units. In a text of many megabytes without a blank, a pattern runs out of stack. */
const WINDOW_LENGTH = 1024 * 1024
/** No secret is longer, so each is complete in at least one window. */
const OVERLAP = 32 * 1024

/** The secrets in a text, in order, none within another. A megabyte takes about 0.3 seconds. */
export function findSecrets(text: string): readonly SecretSpan[] {
  const spans: SecretSpan[] = []
  for (let at = 0; at === 0 || at + OVERLAP < text.length; at += WINDOW_LENGTH - OVERLAP) {
    const isLast = at + WINDOW_LENGTH >= text.length
    for (const { kind, start, end } of joined(findIn(text.slice(at, at + WINDOW_LENGTH)))) {
      // What begins in the overlap is complete in the next window.
      if (!isLast && start >= WINDOW_LENGTH - OVERLAP) break
      const done = spans.at(-1)?.end ?? 0
      if (end + at > done) spans.push(withoutEscape({ kind, start: Math.max(start + at, done), end: end + at }, text))
    }
  }
  return spans
}

/** Leaves out a backslash that escapes the quote after a secret: without it, JSON within JSON would become invalid. */
function withoutEscape({ kind, start, end }: SecretSpan, text: string): SecretSpan {
  let last = end
  if (/["'`]/.test(text.charAt(end))) while (last > start + 1 && text.charAt(last - 1) === '\\') last -= 1
  return { kind, start, end: last }
}

/** Searches the text as it is and as a person reads it: a secret may contain what looks like an escape, or follow one. */
function findIn(text: string): SecretSpan[] {
  const readable = asRead(text)
  const found = applyRules(text)
  return readable === null ? found : [...found, ...applyRules(readable.text).map((span) => readable.toOriginal(span))]
}

/** Where several rules find the same secret, the first one names it. */
function applyRules(text: string): SecretSpan[] {
  const spans = [...findPrivateKeys(text), ...findInWords(text)]
  for (const rule of secretRules().others) {
    for (const match of matchesOf(rule.shape, text)) spans.push(...spanOf(rule, match))
  }
  return [...spans, ...findGroup(secretRules().named, text)]
}

/** Words of signs that do not stand around secrets. No token is shorter. */
const longWords = /[^ \t\r\n\f\v"'`<>(),;{}\0]{16,}/g

function findInWords(text: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  let seen = 0
  for (const { 0: word, index } of text.matchAll(longWords)) {
    for (const { kind, start, end } of findGroup(secretRules().tokens, word)) {
      spans.push({ kind, start: index + start, end: index + end })
    }
    if (word.length < KEY_LINE_LENGTH || index < seen) continue
    keyLines.lastIndex = index
    const lines = keyLines.exec(text)?.[0] ?? ''
    seen = index + lines.length
    if (/[g-z]/.test(lines) && /[A-Z]/.test(lines) && !blockHeader.test(text.slice(Math.max(0, index - 80), index)))
      spans.push({ kind: 'private-key', start: index, end: seen })
  }
  return spans
}

function findGroup({ begins, isBegin, rules }: RuleGroup, text: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  let done = 0
  for (const found of matchesOf(begins, text)) {
    const { index } = found
    // What a secret contains is masked with it.
    if (index < done || !isBegin(found)) continue
    for (const rule of rules) {
      rule.shape.lastIndex = index
      const match = rule.shape.exec(text)
      for (const span of match === null ? [] : spanOf(rule, match)) {
        spans.push(span)
        done = Math.max(done, span.end)
      }
    }
  }
  return spans
}

/** The same as `matchAll`, which makes a copy of the shape each time. */
function* matchesOf(shape: RegExp, text: string): Generator<RegExpExecArray> {
  let from = 0
  for (;;) {
    shape.lastIndex = from
    const match = shape.exec(text)
    if (match === null) return
    yield match
    from = match.index + Math.max(1, match[0].length)
  }
}

/**
 * A shape of the table looks at so much of an unquoted value, and the rest of the word belongs to it: else a text of names
 * without values would take long.
 */
const VALUE_LENGTH = 256
const restOfWord = /[^\s"'`&;<>\\]*/y

function spanOf({ kind, isSecret }: SecretRule, match: RegExpExecArray): SecretSpan[] {
  const secret = match.groups?.['secret'] ?? match[0]
  if (!isSecret(secret, match)) return []
  const end = match.index + match[0].length
  const start = end - secret.length
  if (secret.length < VALUE_LENGTH) return [{ kind, start, end }]
  restOfWord.lastIndex = end
  return [{ kind, start, end: end + (restOfWord.exec(match.input)?.[0].length ?? 0) }]
}

/** Joins spans that overlap. The kind is that of the span that was found first. */
function joined(spans: readonly SecretSpan[]): SecretSpan[] {
  const ordered = spans.map((span, rank) => ({ ...span, rank })).sort((a, b) => a.start - b.start || a.rank - b.rank)
  const found: (SecretSpan & { rank: number })[] = []
  for (const span of ordered) {
    const last = found.at(-1)
    if (last === undefined || span.start >= last.end) {
      found.push(span)
      continue
    }
    const { kind, rank } = span.rank < last.rank ? span : last
    found[found.length - 1] = { kind, rank, start: last.start, end: Math.max(last.end, span.end) }
  }
  return found
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const header = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** What looks like the body of a key without an end. Its line ends may be escaped several times. */
const body = /(?:[A-Za-z0-9+/=:,. -]|\s|\\{1,8}[rn])*/y
/** Letters and signs of a footer. */
const FOOTER_LENGTH_MAX = 80

/** A tool may print a number before each line, and a mail a sign. */
const BEFORE_LINE = String.raw`[ \t>+-]{0,20}\d{0,6}[|:]?[ \t]{0,8}`
const LINE = String.raw`(?:${BEFORE_LINE}[A-Za-z0-9+/=]{N}(?:\r?\n|\\{1,8}r?\\{0,8}n))`
const FOOTER = '-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
/** The rest of a block whose header was left out, up to its footer. */
const rest = new RegExp(`${FOOTER}(?<=(?<secret>${LINE.replace('{N}', '{4,80}')}{1,400})${BEFORE_LINE}${FOOTER})`, 'g')
/** Its middle: five lines as long as OpenSSL, OpenSSH and PGP write them. Hashes are hexadecimal. */
const keyLines = new RegExp(
  `${LINE.replace('{N}', '{64,70}')}{5,400}(?:${BEFORE_LINE}[A-Za-z0-9+/]{1,70}={0,2}(?![\\w-]))?`,
  'y',
)
const KEY_LINE_LENGTH = 64
/** Of a certificate or a public key. */
const blockHeader = /-----BEGIN [A-Z0-9 ]{1,40}-----\s{1,4}$/

/** Blocks as PEM and PGP write them. Takes linear time: each end is searched for only once, however many headers there are. */
function findPrivateKeys(text: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  let [nextEnd, done] = [-2, 0]
  for (const { index, 0: begin } of matchesOf(header, text)) {
    if (index < done) continue
    const from = index + begin.length
    if (nextEnd !== -1 && nextEnd < from) nextEnd = text.indexOf(END, from)
    const nextBegin = text.indexOf(BEGIN, from)
    const isWhole = nextEnd >= 0 && (nextBegin < 0 || nextEnd < nextBegin)
    done = isWhole ? endOfFooter(text, nextEnd) : endOfBody(text, from)
    spans.push({ kind: 'private-key', start: index, end: done })
  }
  for (const { index, groups } of matchesOf(rest, text)) {
    spans.push({ kind: 'private-key', start: index - (groups?.['secret'] ?? '').length, end: index })
  }
  return spans
}

function endOfFooter(text: string, at: number): number {
  const end = text.indexOf('-----', at + END.length)
  return end < 0 || end > at + FOOTER_LENGTH_MAX ? at + END.length : end + '-----'.length
}

function endOfBody(text: string, from: number): number {
  body.lastIndex = from
  body.test(text)
  return body.lastIndex
}

/** A text as a person reads it, and how its spans are found in the original text. */
interface Readable {
  readonly text: string
  readonly toOriginal: (span: SecretSpan) => SecretSpan
}

/** Escapes of terminals and JSON, also of JSON within JSON. A word begins after `\n` or after a colour. */
// oxlint-disable-next-line no-control-regex
const escapes = /(?:\u001b|(?<!\\)\\+u001[bB])\[([\d;:?]*)([@-~])|(?<!\\)\\+([nrt])/g

/** The text without colours, and with blanks and ends of lines for their escapes. Null if it has no escapes. */
function asRead(text: string): Readable | null {
  const pieces: string[] = []
  /** Where each piece begins in the readable and in the original text. */
  const begins: (readonly [read: number, original: number])[] = [[0, 0]]
  let [read, done] = [0, 0]
  for (const { 0: all, 1: parameters = '', 2: kind = '', 3: blank, index } of text.matchAll(escapes)) {
    const shown = blank === undefined ? shownFor(parameters, kind) : blank === 't' ? '\t' : '\n'
    pieces.push(text.slice(done, index), shown)
    read += index - done + shown.length
    done = index + all.length
    begins.push([read, done])
  }
  if (done === 0) return null
  const originalOf = (place: number): number => {
    const [from, original] = lastBefore(begins, place)
    return original + place - from
  }
  return {
    text: pieces.join('') + text.slice(done),
    // An escape after the last letter does not belong to the secret.
    toOriginal: ({ kind, start, end }) => ({ kind, start: originalOf(start), end: originalOf(end - 1) + 1 }),
  }
}

function lastBefore(begins: readonly (readonly [number, number])[], place: number): readonly [number, number] {
  let [low, high] = [0, begins.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((begins[middle]?.[0] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return begins[low] ?? [0, 0]
}
