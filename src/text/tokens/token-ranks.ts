/** At most half of the slots are used, so that searches end soon. */
const PLACES_PER_TOKEN_MIN = 2
/** The rank of bytes that are not a token. It is greater than all others. */
export const NO_TOKEN = 0x7fffffff

/**
 * The ranks of an encoding's tokens, by their bytes. 200,000 tokens take 60 MB as strings in a map, but 6 MB in these three
 * arrays.
 */
export class TokenRanks {
  readonly #bytes: Uint8Array
  /** Start of each token in `#bytes`, by rank. A token ends where the next one begins. */
  readonly #starts: Uint32Array
  /** Hash table of ranks with linear probing, by the hash of the token's bytes. */
  readonly #places: Int32Array

  /** @param starts start of every rank from 0 on, then the end of the last one */
  constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.#bytes = bytes
    this.#starts = starts
    const count = starts.length - 1
    this.#places = new Int32Array(2 ** Math.ceil(Math.log2(count * PLACES_PER_TOKEN_MIN))).fill(NO_TOKEN)
    for (let rank = 0; rank < count; rank += 1) {
      this.#places[this.#placeOf(bytes, starts[rank] ?? 0, starts[rank + 1] ?? 0)] = rank
    }
  }

  /** The rank of the token with these bytes; NO_TOKEN if there is none. */
  rankOf(bytes: Uint8Array, from: number, to: number): number {
    return this.#places[this.#placeOf(bytes, from, to)] ?? NO_TOKEN
  }

  /** The slot of the token, or the free slot for it. */
  #placeOf(bytes: Uint8Array, from: number, to: number): number {
    const places = this.#places
    const last = places.length - 1
    let place = hashOf(bytes, from, to) & last
    for (let rank = places[place] ?? NO_TOKEN; rank !== NO_TOKEN; rank = places[place] ?? NO_TOKEN) {
      if (this.#isToken(rank, bytes, from, to)) break
      place = (place + 1) & last
    }
    return place
  }

  #isToken(rank: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[rank] ?? 0
    const length = to - from
    if ((this.#starts[rank + 1] ?? 0) - start !== length) return false
    for (let at = 0; at < length; at += 1) if (this.#bytes[start + at] !== bytes[from + at]) return false
    return true
  }
}

/** FNV-1a. The upper half is folded into the lower one, because only the lower bits are used. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193)
  return hash ^ (hash >>> 15)
}

/**
 * Reads an encoding in tiktoken's file format: one line per token with its bytes in base64 and its rank, in order of rank.
 * @param count expected number of tokens: a file that was cut at the end of a line looks complete otherwise
 * @throws Error with the first malformed line, or with the number of tokens if it is wrong
 */
export function readTokenRanks(file: Buffer, count: number): TokenRanks {
  const bytes = Buffer.alloc(file.length)
  const starts = [0]
  let end = 0
  for (let from = 0; from < file.length;) {
    const newLine = file.indexOf('\n', from)
    const to = newLine < 0 ? file.length : newLine
    const [token = '', rank] = file.toString('latin1', from, to).split(' ')
    const length = bytes.write(token, end, 'base64')
    if (length === 0 || rank !== String(starts.length - 1)) throw new Error(badLine(starts.length))
    end += length
    starts.push(end)
    from = to + 1
  }
  const found = starts.length - 1
  if (found !== count) throw new Error(`token list: it has ${found} tokens instead of ${count}`)
  return new TokenRanks(new Uint8Array(bytes.subarray(0, end)), new Uint32Array(starts))
}

const badLine = (line: number): string =>
  `token list: line ${line} is not a token in base64, a space and the rank ${line - 1}`
