import type { Span, TermMatch } from './matcher.ts'

const PASSAGES_MAX = 4
/** UTF-16 units of context around the words of each of several passages. */
const CONTEXT_LENGTH = 24

interface Place extends Span {
  readonly word: number
}

/**
 * The passages that a snippet shows: as few as possible with the most different words, in order and without overlap. If
 * nothing was found, the beginning of the text.
 * @param lengthMax UTF-16 units of all passages, including some context
 */
export function choosePassages(found: readonly TermMatch[], lengthMax: number): readonly Span[] {
  const places = found
    .map(({ word, spans }): Place => ({ word, start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 }))
    .toSorted((a, b) => a.start - b.start)
  const wordCount = new Set(places.map(({ word }) => word)).size
  let best: Chosen = { passages: [{ start: 0, end: 0 }], wordCount: 0 }
  for (let count = 1; count <= PASSAGES_MAX && best.wordCount < wordCount; count += 1) {
    const length = count === 1 ? lengthMax : Math.floor(lengthMax / count) - CONTEXT_LENGTH
    if (count > 1 && length < CONTEXT_LENGTH) break
    const chosen = choose(places, count, length)
    if (chosen.wordCount > best.wordCount) best = chosen
  }
  return best.passages.toSorted((a, b) => a.start - b.start)
}

interface Chosen {
  readonly passages: readonly Span[]
  readonly wordCount: number
}

/** Chooses passages one by one, each with the most words that the former ones lack. */
function choose(places: readonly Place[], count: number, lengthMax: number): Chosen {
  const passages: Span[] = []
  const covered = new Set<number>()
  while (passages.length < count) {
    const left = places.filter(
      (place) => !covered.has(place.word) && !passages.some((one) => place.start < one.end && place.end > one.start),
    )
    const passage = bestPassage(left, lengthMax)
    if (passage === null) break
    passages.push(passage)
    for (const place of places) if (place.start >= passage.start && place.end <= passage.end) covered.add(place.word)
    for (const word of passage.words) covered.add(word)
  }
  return { passages, wordCount: covered.size }
}

interface Passage extends Span {
  readonly words: readonly number[]
}

/** The passage with the most different words, then with the most matches, then the earliest. */
function bestPassage(places: readonly Place[], lengthMax: number): Passage | null {
  const counts = new Map<number, number>()
  let best: (Passage & { readonly count: number }) | null = null
  let first = 0
  for (const [last, place] of places.entries()) {
    counts.set(place.word, (counts.get(place.word) ?? 0) + 1)
    for (let head = places[first]; head !== undefined && head !== place; head = places[first]) {
      if (place.end - head.start <= lengthMax) break
      removeOne(counts, head.word)
      first += 1
    }
    const count = last - first + 1
    const isBetter =
      best === null || counts.size > best.words.length || (counts.size === best.words.length && count > best.count)
    if (isBetter) best = { start: places[first]?.start ?? 0, end: place.end, words: [...counts.keys()], count }
  }
  if (best === null) return null
  return { ...best, end: Math.min(best.end, best.start + Math.max(1, lengthMax)) }
}

function removeOne(counts: Map<number, number>, word: number): void {
  const count = counts.get(word) ?? 0
  if (count <= 1) counts.delete(word)
  else counts.set(word, count - 1)
}
