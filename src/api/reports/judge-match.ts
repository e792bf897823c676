import { toIso } from '../iso.ts'
import type { DescribedMatch } from '../http/schemas/commits.ts'

export const confidences = ['low', 'medium', 'high'] as const
export type Confidence = (typeof confidences)[number]

export interface TimeEvidence {
  /** How many of its messages are in the commit's window; null if only the start and end of the chat are known. */
  readonly messages: number | null
  readonly firstAtMs: number
  readonly lastAtMs: number
}

export interface FileEvidence {
  /** Files of the commit that the chat edited since they were last committed, with paths as in git. */
  readonly paths: readonly string[]
  /** Their share of all files of the commit; 0 to 1. */
  readonly share: number
  readonly lastEditAtMs: number
  /** Milliseconds from the last edit to the commit's window; 0 if the edit is inside. */
  readonly waitedMs: number
  readonly isInWindow: boolean
  /** Edited after the first version of the commit and before it was amended. */
  readonly isAmended: boolean
}

export interface Evidence {
  readonly time: TimeEvidence | null
  /** Whether the commit is on the branch on which the chat began; null if unknown. */
  readonly branch: 'same' | 'other' | null
  readonly files: FileEvidence | null
  /** When Cursor recorded code of the chat within the window of a commit that Cursor scored; null if it did not. */
  readonly tracking: { readonly firstAtMs: number; readonly lastAtMs: number } | null
  /** Within the window the chat edited files, but none of the commit. */
  readonly editedElsewhere: boolean
}

export interface Judgement {
  readonly confidence: Confidence
  /** 0 to 1, to order chats. It is no probability. */
  readonly score: number
}

export interface CommitMatch extends Judgement {
  /** Row number of the chat. */
  readonly num: number
  readonly id: string
  readonly title: string
  readonly evidence: Evidence
}

const DAY_MS = 24 * 3_600_000

/**
 * Files decide. High: the chat edited files of the commit within its window, or it edited all files of the commit at
 * most a day before. Medium: it edited some of them before; the longer ago, the lower the score. Time alone is low on
 * any branch, because people chat about one thing and commit another. If Cursor recorded code of the chat at that time,
 * it is medium: code was written then, but the file is unknown. The branch changes no confidence, only the order of
 * chats with the same one.
 */
export function judge({ time, branch, files, tracking, editedElsewhere }: Evidence): Judgement {
  const onBranch = branch === 'same' ? 0.03 : branch === 'other' ? -0.03 : 0
  if (files !== null)
    return judgement(isSure(files) ? 'high' : 'medium', scoreOfFiles(files) + onBranch + (tracking === null ? 0 : 0.02))
  if (editedElsewhere) return judgement('low', 0.1 + onBranch)
  if (tracking !== null) return judgement('medium', 0.55 + onBranch)
  return judgement('low', (time?.messages === null ? 0.15 : 0.3) + onBranch * 3)
}

const isSure = ({ share, waitedMs, isInWindow, isAmended }: FileEvidence): boolean =>
  isInWindow || (!isAmended && waitedMs <= DAY_MS && share === 1)

function scoreOfFiles({ share, waitedMs, isInWindow, isAmended }: FileEvidence): number {
  if (isInWindow) return 0.85 + 0.1 * share
  if (isAmended) return 0.7 + 0.1 * share
  const waitedDays = waitedMs / DAY_MS
  return waitedDays <= 1 ? 0.65 + 0.18 * share : Math.max(0.53, 0.65 - 0.01 * waitedDays) + 0.1 * share
}

/** Scores are limited to these bounds, so that an order by score is also one by confidence. */
const bounds = { low: [0.05, 0.49], medium: [0.5, 0.79], high: [0.8, 0.99] } as const

function judgement(confidence: Confidence, raw: number): Judgement {
  const [least, most] = bounds[confidence]
  return { confidence, score: Math.round(Math.min(most, Math.max(least, raw)) * 100) / 100 }
}

/** How many files are listed. A commit can have thousands. */
const PATHS_MAX = 50

export function describeMatch({ id, title, confidence, score, evidence }: CommitMatch): DescribedMatch {
  const { time, branch, files, tracking, editedElsewhere } = evidence
  return {
    id,
    title,
    confidence,
    score,
    evidence: {
      time: time === null ? null : { messages: time.messages, from: toIso(time.firstAtMs), to: toIso(time.lastAtMs) },
      branch,
      files:
        files === null
          ? null
          : {
              paths: files.paths.slice(0, PATHS_MAX),
              share: Math.round(files.share * 100) / 100,
              lastEditAt: toIso(files.lastEditAtMs),
              when: files.isInWindow ? 'in-window' : files.isAmended ? 'before-amending' : 'earlier',
            },
      tracking: tracking === null ? null : { from: toIso(tracking.firstAtMs), to: toIso(tracking.lastAtMs) },
      editedElsewhere,
    },
  }
}
