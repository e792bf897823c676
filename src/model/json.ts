/** A parsed JSON value, such as the input or output of a tool call. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The largest accepted count. Cursor's real counts are far below it, and SQLite can add up a million such numbers exactly. */
export const COUNT_MAX = 2 ** 40

const [QUOTE, BACKSLASH, BRACE, BRACKET, COMMA] = [0x22, 0x5c, 0x7b, 0x5b, 0x2c]

/** How many objects and arrays begin in a JSON text, and how many values it has, about. Signs in strings do not count. */
export function countValues(json: string): { readonly objects: number; readonly values: number } {
  let [objects, commas, isInString] = [0, 0, false]
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at)
    if (sign === QUOTE) isInString = !isInString
    else if (sign === BACKSLASH) at += 1
    else if (isInString) continue
    else if (sign === BRACE || sign === BRACKET) objects += 1
    else if (sign === COMMA) commas += 1
  }
  return { objects, values: 1 + objects + commas }
}
