import type { Verdict } from '../api/archives/verify-archive.ts'
import type { PruneOrder } from '../api/archives/prune.ts'
import type { Scope } from '../api/archives/scope.ts'
import type { ArchiveRun } from '../api/http/archive-shapes.ts'

export interface ArchiveRunOrder {
  readonly kind: 'run'
  readonly dir: string
  readonly mirrorPath: string
  readonly name: string
  readonly scope: Scope
  /** Zone in which the dates of the scope are read. */
  readonly timeZone: string
  readonly version: string
  /** What is removed afterwards; null for a run that a person asked for. */
  readonly prune: PruneOrder | null
}

export interface ArchiveVerifyOrder {
  readonly kind: 'verify'
  readonly dir: string
  /** Of the objects, 0 to 1. */
  readonly share: number
}

/** What a process of the archives is asked to do. */
export type ArchiveOrder = ArchiveRunOrder | ArchiveVerifyOrder

export interface RunResult {
  readonly kind: 'run'
  readonly name: string
  readonly packed: number
  readonly mended: readonly string[]
  /** Chats that could not be archived as they are. */
  readonly leftOut: ArchiveRun['leftOut']
  /** Names of the runs that were removed. */
  readonly removed: readonly string[]
}

export interface VerifyResult {
  readonly kind: 'verify'
  readonly verdict: Verdict
}

export type ArchiveResult = RunResult | VerifyResult
