import { SLOTS_PER_MS } from '../../../mirror/write/messages/key-allocator.ts'
import type { Part } from '../../../model/part.ts'
import { searchablePieces, type ColumnName } from '../../../text/terms/columns.ts'
import { fitText, type AskedWords, type TextFit } from './text-fit.ts'

/** What is said or written counts most, what was printed or pasted least: a dump holds any word, and holds it often. */
const PLACE_WEIGHTS: Readonly<Record<ColumnName, number>> = {
  text: 1,
  code: 0.8,
  thinking: 0.5,
  tool: 0.35,
  attachment: 0.3,
}
/** A title says what all of a chat is about. */
const TITLE_WEIGHT = 1.3
const SUMMARY_WEIGHT = 0.9
/** Words side by side are worth nearly as much as the words. */
const CLOSENESS_WEIGHT = 0.8
/** What a chat's title adds to its messages, where it holds all that was asked for. */
const OWN_TITLE_WEIGHT = 0.2
/** Parts two messages that fit alike, and little more: less than a word that is spelt as it was typed. */
const RECENCY_WEIGHT = 0.05
const HALF_LIFE_MS = 180 * 86_400_000
/** The index met the word beyond what is read of a text: it is there, and far from the others. */
const UNSEEN_FIT = 0.1
/** UTF-16 units. A text of this length is worth nine tenths of a short one, one of ten times as many eight. */
const LENGTH_STEP = 1000
const LENGTH_LOSS = 0.3
/** UTF-16 units that are read of one part. */
const READ_MAX = 20_000

/** 0 and above, higher is better. */
interface MessageScore {
  readonly score: number
  /** What the message's chat would score by its title alone: 0 where that lacks a word. */
  readonly titleScore: number
}

export interface Scorer {
  /** @param title of the message's chat */
  readonly scoreMessage: (key: number, parts: readonly Part[], title: string) => MessageScore
  readonly scoreTitle: (key: number, title: string, summary: string | null) => number
}

/** Messages and titles on one scale. @param nowMs what recent means */
export function createScorer(asked: AskedWords, nowMs: number): Scorer {
  const score = (key: number, fits: readonly TextFit[]): number => {
    const words = asked.words.map((_, at) => best(fits, (fit) => fit.words[at], UNSEEN_FIT))
    const pairs = asked.words.slice(1).map((_, at) => best(fits, (fit) => fit.pairs[at], 0))
    return mean(words) + CLOSENESS_WEIGHT * mean(pairs) + RECENCY_WEIGHT * recency(key, nowMs)
  }
  return {
    scoreMessage: (key, parts, title) => {
      const fits = parts.flatMap((part) => fitPart(part, asked))
      const own = fitText(title, asked, null)
      const isWhole = own.words.every((figure) => figure > 0)
      return {
        score: score(key, fits) + OWN_TITLE_WEIGHT * mean(own.words),
        titleScore: isWhole ? score(key, [weighed(own, TITLE_WEIGHT)]) : 0,
      }
    },
    scoreTitle: (key, title, summary) =>
      score(key, [
        weighed(fitText(title, asked, null), TITLE_WEIGHT),
        ...(summary === null ? [] : [weighed(fitText(summary, asked, null), SUMMARY_WEIGHT)]),
      ]),
  }
}

/** In whichever place it fits best. */
const best = (fits: readonly TextFit[], of: (fit: TextFit) => number | undefined, least: number): number =>
  fits.reduce((most, fit) => Math.max(most, of(fit) ?? 0), least)

const mean = (figures: readonly number[]): number =>
  figures.length === 0 ? 0 : figures.reduce((sum, figure) => sum + figure, 0) / figures.length

function fitPart(part: Part, asked: AskedWords): readonly TextFit[] {
  return searchablePieces(part).flatMap(({ text, column }) => {
    const fit = fitText(text.slice(0, READ_MAX), asked, column)
    if (!fit.words.some((figure) => figure > 0)) return []
    const focus = 1 / (1 + LENGTH_LOSS * Math.log10(1 + text.length / LENGTH_STEP))
    return [weighed(fit, PLACE_WEIGHTS[column] * focus)]
  })
}

const weighed = ({ words, pairs }: TextFit, weight: number): TextFit => ({
  words: words.map((figure) => figure * weight),
  pairs: pairs.map((figure) => figure * weight),
})

function recency(key: number, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - key / SLOTS_PER_MS)
  return 2 ** (-ageMs / HALF_LIFE_MS)
}
