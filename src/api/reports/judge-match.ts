import type { DescribedMatch } from '../http/schemas/commits.ts'

/** A chat that may have led to a commit. */
export interface CommitMatch extends DescribedMatch {
  /** Row number of the chat. */
  readonly num: number
}

type Evidence = DescribedMatch['evidence']
type Judgement = Pick<DescribedMatch, 'confidence' | 'score'>

/** How the files that a chat edited fit a commit. */
export interface FileFit {
  /** Their share of all files of the commit; 0 to 1. */
  readonly share: number
  /** Milliseconds from the last edit to the commit's window. */
  readonly waitedMs: number
}

const DAY_MS = 24 * 3_600_000

/**
 * Files decide. High: the chat edited files of the commit within its window, or it edited all files of the commit at
 * most a day before. Medium: it edited some of them before; the longer ago, the lower the score. Time alone is low on
 * any branch, because people chat about one thing and commit another. If Cursor recorded code of the chat at that time,
 * it is medium: code was written then, but the file is unknown. The branch changes no confidence, only the order of
 * chats with the same one.
 */
export function judge({ time, branch, files, tracking, editedElsewhere }: Evidence, fit: FileFit): Judgement {
  const onBranch = branch === 'same' ? 0.03 : branch === 'other' ? -0.03 : 0
  if (files !== null) {
    const isInWindow = files.when === 'in-window'
    const isSure = isInWindow || (fit.waitedMs <= DAY_MS && fit.share === 1)
    const raw = isInWindow ? 0.85 + 0.1 * fit.share : scoreOfEarlier(fit)
    return judgement(isSure ? 'high' : 'medium', raw + onBranch + (tracking === null ? 0 : 0.02))
  }
  if (editedElsewhere) return judgement('low', 0.1 + onBranch)
  if (tracking !== null) return judgement('medium', 0.55 + onBranch)
  return judgement('low', (time?.messages === null ? 0.15 : 0.3) + onBranch * 3)
}

function scoreOfEarlier({ share, waitedMs }: FileFit): number {
  const waitedDays = waitedMs / DAY_MS
  return waitedDays <= 1 ? 0.65 + 0.18 * share : Math.max(0.53, 0.65 - 0.01 * waitedDays) + 0.1 * share
}

/** Scores are limited to these bounds, so that an order by score is also one by confidence. */
const bounds = { low: [0.05, 0.49], medium: [0.5, 0.79], high: [0.8, 0.99] } as const

function judgement(confidence: DescribedMatch['confidence'], raw: number): Judgement {
  const [least, most] = bounds[confidence]
  return { confidence, score: Math.round(Math.min(most, Math.max(least, raw)) * 100) / 100 }
}
