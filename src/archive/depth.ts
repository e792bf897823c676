/**
 * How deep a line may be nested. What the mirror holds is bounded below this; `JSON.parse` reads any depth, and whatever
 * walks the value afterwards would run out of stack.
 */
const DEPTH_MAX = 600

/** Whether a JSON text is nested deeper than anything that was archived. Looks at the text, before anything is made of it. */
export function isTooDeep(json: string): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = endOfString(json, at)
    else if (code === BRACE || code === BRACKET) {
      depth += 1
      if (depth > DEPTH_MAX) return true
    } else if (code === END_BRACE || code === END_BRACKET) depth -= 1
  }
  return false
}

const [QUOTE, BRACE, BRACKET, END_BRACE, END_BRACKET, BACKSLASH] = [0x22, 0x7b, 0x5b, 0x7d, 0x5d, 0x5c]

/** Where the string that begins here ends; the end of the text where it does not. */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return json.length
}
