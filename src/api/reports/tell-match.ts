import { toIso } from '../iso.ts'
import type { CommitMatch, Confidence } from './judge-match.ts'

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
