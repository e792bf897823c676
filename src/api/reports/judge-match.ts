import { toIso } from '../iso.ts'

export const confidences = ['low', 'medium', 'high'] as const
export type Confidence = (typeof confidences)[number]

export interface TimeEvidence {
  /** How many of its messages lie in the commit's window; null where only the chat's own first and last time is known. */
  readonly messages: number | null
  readonly firstAtMs: number
  readonly lastAtMs: number
}

export interface FileEvidence {
  /** Files of the commit that the chat edited since they were last committed, as git names them. */
  readonly paths: readonly string[]
  /** They are so much of all that the commit touched; 0 to 1. */
  readonly share: number
  readonly lastEditAtMs: number
  /** From the last edit to the commit's window; 0 where it lies inside. */
  readonly waitedMs: number
  readonly isInWindow: boolean
  /** Edited after the commit was first made and before it was made anew. */
  readonly isAmended: boolean
}

export interface Evidence {
  readonly time: TimeEvidence | null
  /** Whether the commit is on the branch on which the chat began; null where that is not known. */
  readonly branch: 'same' | 'other' | null
  readonly files: FileEvidence | null
  /** When Cursor recorded code of the chat within the window of a commit that Cursor scored; null where it did not. */
  readonly tracking: { readonly firstAtMs: number; readonly lastAtMs: number } | null
  /** It edited files within the window, and none that the commit touched. */
  readonly editedElsewhere: boolean
}

export interface Judgement {
  readonly confidence: Confidence
  /** 0 to 1, for an order among chats. It is no probability. */
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
 * Files decide. Edited within the window of a commit that holds them: high. Edited before it: high where that is all
 * the commit holds and within a day, else medium, the less the longer it waited. Time alone is low, whatever the branch
 * says: people talk to a model about one thing and commit another. Code that Cursor recorded at that time makes it medium:
 * it was written then, and nobody says into which file. The
 * branch decides no confidence either, only the order among chats of one.
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

/** Within these a score stays, whatever adds to it, so that who orders by it has the surest first. */
const bounds = { low: [0.05, 0.49], medium: [0.5, 0.79], high: [0.8, 0.99] } as const

function judgement(confidence: Confidence, raw: number): Judgement {
  const [least, most] = bounds[confidence]
  return { confidence, score: Math.round(Math.min(most, Math.max(least, raw)) * 100) / 100 }
}

/** A match as it is answered. */
export interface ToldMatch {
  readonly id: string
  readonly title: string
  readonly confidence: Confidence
  /** 0 to 1, for an order among chats; no probability. */
  readonly score: number
  readonly evidence: EvidenceBuffer
}

export interface EvidenceBuffer {
  /** Messages within the commit's window; `messages` is null where only the chat's own span is known. */
  readonly time: { readonly messages: number | null; readonly from: string | null; readonly to: string | null } | null
  readonly branch: 'same' | 'other' | null
  /** Files of the commit that the chat edited. */
  readonly files: {
    readonly paths: readonly string[]
    readonly share: number
    readonly lastEditAt: string | null
    readonly when: 'in-window' | 'earlier' | 'before-amending'
  } | null
  /** When Cursor recorded code of the chat between the commit before and this one, which Cursor scored. */
  readonly tracking: { readonly from: string | null; readonly to: string | null } | null
  readonly editedElsewhere: boolean
}

/** A commit that brings in thousands of files needs no list of them to be known again. */
const PATHS_MAX = 50

export function tellMatch({ id, title, confidence, score, evidence }: CommitMatch): ToldMatch {
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
