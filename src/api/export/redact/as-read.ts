import { shownFor } from '../../../text/passages/readable.ts'
import type { SecretSpan } from './private-keys.ts'

/** A text as a person reads it, and where in the text that was given a part of it stands. */
export interface Reading {
  readonly text: string
  readonly given: (span: SecretSpan) => SecretSpan
}

/** What a terminal or JSON reads as no letter, also where JSON holds JSON: behind `\n` or a colour a word begins. */
// oxlint-disable-next-line no-control-regex
const unread = /(?:\u001b|(?<!\\)\\+u001[bB])\[([\d;:?]*)([@-~])|(?<!\\)\\+[nrt]/g

/** The text without colours, and with blanks for what moves the cursor or ends a line; null where it holds none. */
export function asRead(text: string): Reading | null {
  const kept: string[] = []
  /** Where each stretch that was kept begins, as it is read and as it was given. */
  const begins: (readonly [read: number, given: number])[] = [[0, 0]]
  let [read, done] = [0, 0]
  for (const { 0: all, 1: given = '', 2: kind = '', index } of text.matchAll(unread)) {
    const shown = shownFor(given, kind)
    kept.push(text.slice(done, index), shown)
    read += index - done + shown.length
    done = index + all.length
    begins.push([read, done])
  }
  if (done === 0) return null
  const at = (place: number): number => {
    const [from, given] = lastBefore(begins, place)
    return given + place - from
  }
  return {
    text: kept.join('') + text.slice(done),
    // What stands behind its last letter is not of it.
    given: ({ kind, start, end }) => ({ kind, start: at(start), end: at(end - 1) + 1 }),
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
