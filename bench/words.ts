export type Random = () => number

/** A small random number generator (mulberry32). The same seed gives the same store on every machine. */
export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const SYLLABLES = 'ba ce di fo gu la me ni po ru sa te vi wo xu ka je hi lo nu'.split(' ')
const WORDS = 40_000
const IDENTIFIERS = 60_000

/** Writes pseudo-text: words by Zipf's law, and some identifiers, as many different ones as a few large projects have. */
export function createWriter(random: Random) {
  const words = Array.from({ length: WORDS }, (_, rank) => makeWord(random, rank))
  const identifiers = Array.from({ length: IDENTIFIERS }, () => {
    const [first = '', ...rest] = Array.from({ length: 3 }, () => pick(words, random))
    return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  })
  return {
    /** Text with about this many characters. */
    text: (length: number): string => {
      const parts: string[] = []
      for (let size = 0; size < length; size += (parts.at(-1)?.length ?? 0) + 1) {
        parts.push(pick(random() < 0.08 ? identifiers : words, random))
      }
      return parts.join(' ')
    },
    /** Text that nobody searches, which is cheap to make. */
    filler(length: number): string {
      const piece = `${random().toString(36).slice(2)} `
      return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
    },
  }
}

/** Draws the first of the list most often, by Zipf's law. */
function pick(list: readonly string[], random: Random): string {
  return list[Math.min(list.length - 1, Math.floor(list.length ** random()) - 1)] ?? ''
}

/** Frequent words are short. */
function makeWord(random: Random, rank: number): string {
  const syllables = 1 + Math.floor(Math.log10(rank + 10) * (0.6 + random() * 0.6))
  return Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('')
}
