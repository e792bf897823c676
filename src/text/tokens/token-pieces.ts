/** Signs of UTF-16 in a piece at most. */
export const PIECE_LENGTH = 4096
/** A tokenizer's work grows with the square of a stretch in which it finds no border. */
const STRETCH_LENGTH = 256
/** How far back a border between words is looked for, so that no word is cut where one is near. */
const LOOK_BACK = 200

/**
 * Cuts a text so that counting the tokens of its pieces takes time in proportion to its length, whatever it is: pieces
 * of 4,096 characters at most, ended between two words where one ends near, and within any 256 characters that have no
 * such border. No piece begins or ends amid a surrogate pair.
 */
export function* tokenPieces(text: string): Generator<string> {
  let start = 0
  let stretch = 0
  let lastBorder = 0
  let wasSpace = false
  for (let at = 0; at < text.length; at += 1) {
    const isSpace = isWhite(text.charCodeAt(at))
    if (isSpace !== wasSpace) stretch = 0
    // Before the space: a tokenizer takes it together with the word that follows.
    if (isSpace && !wasSpace) lastBorder = at
    wasSpace = isSpace
    stretch += 1
    const isLong = stretch > STRETCH_LENGTH
    if (!isLong && at - start < PIECE_LENGTH) continue
    const isNear = !isLong && lastBorder > start && at - lastBorder < LOOK_BACK
    const end = isNear ? lastBorder : wholeSigns(text, at)
    if (end <= start) continue
    yield text.slice(start, end)
    start = end
    stretch = at - end + 1
  }
  if (start < text.length) yield text.slice(start)
}

/** As the tokenizer's pattern takes it: one stretch of these is one word. */
const blanks = new Set([0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff])

const isWhite = (code: number): boolean =>
  blanks.has(code) || (code >= 9 && code <= 13) || (code >= 0x2000 && code <= 0x200a)

function wholeSigns(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
