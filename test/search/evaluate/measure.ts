import { halves, kinds, type Half, type Kind, type Question } from '../queries/index.ts'
import { LOOKED_AT, type Answer, type Engine, type Hit } from './engine.ts'
import { foldText } from './plain-words.ts'

/** Figures of one question, or the mean of several. */
export interface Score {
  /** Whether the first hit is right. */
  readonly recallAt1: number
  /** The share of wanted documents among the first ten. */
  readonly recallAt10: number
  /** 1 divided by the place of the best document, or of the first wanted one. */
  readonly reciprocalRank: number
  /** Whether one of them does not match by the rules of the language. */
  readonly isWrong: number
}

export interface Measured {
  readonly question: Question
  readonly score: Score
}

export interface KindScore extends Score {
  readonly half: Half
  /** Null for all kinds together. */
  readonly kind: Kind | null
  readonly count: number
}

export function measure(engine: Engine, questions: readonly Question[]): readonly Measured[] {
  return questions.map((question) => ({ question, score: scoreOf(question, engine(question.ask)) }))
}

export function scoreOf({ ask, from }: Question, { hits, spellings }: Answer): Score {
  const first = hits.slice(0, LOOKED_AT)
  const places = (names: string): readonly number[] =>
    namesIn(names).map((name) => first.findIndex((hit) => isHit(hit, `${from.id}-${name}`, ask.isOfChat === true)))
  const wanted = places(ask.want)
  const found = wanted.filter((place) => place >= 0)
  const isWrong = places(ask.never ?? '').some((place) => place >= 0) ? 1 : 0
  if (found.length === 0 && isSuggested(ask.spelling, spellings)) {
    return { recallAt1: 1, recallAt10: 1, reciprocalRank: 1, isWrong }
  }
  const best = ask.best === undefined ? Math.min(...found) : (places(ask.best)[0] ?? -1)
  const isFound = best >= 0 && Number.isFinite(best)
  return {
    recallAt1: best === 0 ? 1 : 0,
    recallAt10: found.length / Math.min(wanted.length, LOOKED_AT),
    reciprocalRank: isFound ? 1 / (best + 1) : 0,
    isWrong,
  }
}

export const namesIn = (names: string): readonly string[] => names.split(' ').filter((name) => name !== '')

/** Whether a hit is a given document. A chat made for a message is named after it. */
function isHit(hit: Hit, documentId: string, isOfChat: boolean): boolean {
  return hit.messageId === documentId || (isOfChat && hit.chatId === `own-${documentId}`)
}

function isSuggested(spelling: string | undefined, [first]: readonly string[]): boolean {
  if (spelling === undefined || first === undefined) return false
  return foldText(first).includes(foldText(spelling))
}

/** The means by half and kind, and for each half as a whole. */
export function summarise(measured: readonly Measured[]): readonly KindScore[] {
  return halves.flatMap((half) =>
    [...kinds, null].map((kind) => {
      const mine = measured.filter(
        ({ question: { from } }) => from.half === half && (kind === null || from.kind === kind),
      )
      return { half, kind, count: mine.length, ...meanOf(mine.map(({ score }) => score)) }
    }),
  )
}

function meanOf(scores: readonly Score[]): Score {
  const mean = (value: (score: Score) => number): number =>
    scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + value(score), 0) / scores.length
  return {
    recallAt1: mean((score) => score.recallAt1),
    recallAt10: mean((score) => score.recallAt10),
    reciprocalRank: mean((score) => score.reciprocalRank),
    isWrong: mean((score) => score.isWrong),
  }
}
