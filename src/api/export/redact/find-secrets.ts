import { shownFor } from '../../../text/passages/readable.ts'
import { rules } from './rules.ts'

/** A secret in a text; `end` is exclusive. */
export interface SecretSpan {
  readonly kind: string
  readonly start: number
  readonly end: number
}

/** UTF-16 units. The rules take about 30 ms for a window, and twice as long if it contains escapes. */
const WINDOW_LENGTH = 512 * 1024
/** No secret is longer, so each is complete in at least one window. */
const OVERLAP = 32 * 1024

/** The secrets in a text, in order, none within another. Yields after each window, so that the caller can do other work. */
export function* findSecrets(text: string): Generator<void, readonly SecretSpan[]> {
  const spans: SecretSpan[] = []
  for (let at = 0; at === 0 || at + OVERLAP < text.length; at += WINDOW_LENGTH - OVERLAP) {
    const window = at === 0 && text.length <= WINDOW_LENGTH ? text : text.slice(at, at + WINDOW_LENGTH)
    for (const { kind, start, end } of findIn(window)) {
      spans.push({ kind, start: start + at, end: end + at })
    }
    yield
  }
  return joined(spans).map((span) => withoutEscape(span, text))
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

function applyRules(text: string): SecretSpan[] {
  const spans = findPrivateKeys(text)
  for (const { kind, shape, isSecret } of rules) {
    for (const match of text.matchAll(shape)) {
      const secret = match.groups?.['secret'] ?? match[0]
      if (isSecret?.(secret) === false) continue
      const end = match.index + match[0].length
      spans.push({ kind, start: end - secret.length, end })
    }
  }
  return spans
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
    const first = span.rank < last.rank ? span : last
    found[found.length - 1] = {
      kind: first.kind,
      rank: first.rank,
      start: last.start,
      end: Math.max(last.end, span.end),
    }
  }
  return found
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const header = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** What looks like the body of a key without an end. Its line ends may be escaped several times. */
const body = /(?:[A-Za-z0-9+/=:,. -]|\s|\\{1,8}[rn])*/y
/** Letters and signs of a footer. */
const FOOTER_LENGTH_MAX = 80

/** Blocks as PEM and PGP write them. Takes linear time: each end is searched for only once, however many headers there are. */
function findPrivateKeys(text: string): SecretSpan[] {
  const spans: SecretSpan[] = []
  let nextEnd = -2
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    header.lastIndex = at
    if (!header.test(text)) {
      at += BEGIN.length
      continue
    }
    const from = header.lastIndex
    if (nextEnd !== -1 && nextEnd < from) nextEnd = text.indexOf(END, from)
    const nextBegin = text.indexOf(BEGIN, from)
    const isWhole = nextEnd >= 0 && (nextBegin < 0 || nextEnd < nextBegin)
    const end = isWhole ? endOfFooter(text, nextEnd) : endOfBody(text, from)
    spans.push({ kind: 'private-key', start: at, end })
    at = end
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
const escapes = /(?:\u001b|(?<!\\)\\+u001[bB])\[([\d;:?]*)([@-~])|(?<!\\)\\+[nrt]/g

/** The text without colours, and with blanks for escapes that move the cursor or end a line. Null if it has no escapes. */
function asRead(text: string): Readable | null {
  const pieces: string[] = []
  /** Where each piece begins in the readable and in the original text. */
  const begins: (readonly [read: number, original: number])[] = [[0, 0]]
  let [read, done] = [0, 0]
  for (const { 0: all, 1: parameters = '', 2: kind = '', index } of text.matchAll(escapes)) {
    const shown = shownFor(parameters, kind)
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
