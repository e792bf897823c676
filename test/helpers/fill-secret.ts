const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'

/** `{36}` stands for 36 letters and digits, `{hex:32}` for 32 signs of another alphabet. */
const alphabets: Readonly<Record<string, string>> = {
  any: UPPER + LOWER + DIGITS,
  letters: UPPER + LOWER,
  lower: LOWER + DIGITS,
  upper: `${UPPER}234567`,
  digits: DIGITS,
  hex: `${DIGITS}abcdef`,
  HEX: `${DIGITS}ABCDEF`,
  base58: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
}
const words = 'abandon ability kitten lemon orbit puzzle river sugar tiger urban velvet window yellow zebra'.split(' ')

/**
 * A text whose secret parts are filled in, so that no scanner reports the file with the template. The same template and
 * seed always give the same text.
 */
export function fillSecret(template: string, seed = 1): string {
  let state = 12_345 + seed * 7919 + template.length
  const next = (size: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return (state >> 8) % size
  }
  const signs = (name: string, length: number): string => {
    const alphabet = alphabets[name] ?? ''
    if (alphabet === '') throw new Error(`${template}: no alphabet ${name}`)
    const random = Array.from({ length }, () => alphabet.charAt(next(alphabet.length)))
    // As in nearly every real one, there is a digit, a small and a large letter.
    if (name === 'any' && length > 3) random.splice(1, 3, '7', 'q', 'K')
    return random.join('')
  }
  return template.replaceAll(/\{(?:(\w+):)?(\d+)\}|\{uuid\}/g, (all, name: string | undefined, length: string) => {
    if (all === '{uuid}') return [8, 4, 4, 4, 12].map((part) => signs('hex', part)).join('-')
    if (name === 'words') return Array.from({ length: Number(length) }, () => words[next(words.length)]).join(' ')
    return signs(name ?? 'any', Number(length))
  })
}
