/** Largest number of UTF-16 units in a piece. */
export const PIECE_LENGTH = 4096
/** Longest stretch without a border. A tokenizer's work grows with the square of its length. */
const STRETCH_LENGTH = 256
/** How far back a word border is searched, so that no word is cut if a border is near. */
const LOOK_BACK = 200

/**
 * Splits a text so that counting the tokens of its pieces takes linear time for any text. A piece has at most 4,096 UTF-16
 * units. It ends between two words if a border is near, and after 256 units without a border in any case. No piece splits a
 * surrogate pair.
 */
export function* tokenPieces(text: string): Generator<string> {
  let start = 0
  let stretch = 0
  let lastBorder = 0
  let wasSpace = false
  for (let at = 0; at < text.length; at += 1) {
    const isSpace = isWhite(text.charCodeAt(at))
    if (isSpace !== wasSpace) stretch = 0
    // The border is before the space, because a tokenizer joins a space with the following word.
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

/** White space by the tokenizer's pattern: a stretch of these is one word. */
const blanks = new Set([0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff])

const isWhite = (code: number): boolean =>
  blanks.has(code) || (code >= 9 && code <= 13) || (code >= 0x2000 && code <= 0x200a)

function wholeSigns(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
