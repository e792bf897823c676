/** A part of a text, its end exclusive, and what it is. */
export interface SecretSpan {
  readonly kind: string
  readonly start: number
  readonly end: number
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const header = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
/** Of a key whose end is cut off, what looks like one; a line of it may be quoted any number of times. */
const body = /(?:[A-Za-z0-9+/=:,. -]|\s|\\{1,8}[rn])*/y
/** Letters and signs of a footer. */
const FOOTER_LENGTH_MAX = 80

/** Blocks as PEM and PGP write them. In one walk: the next end is looked for once, however many beginnings there are. */
export function findPrivateKeys(text: string): SecretSpan[] {
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
