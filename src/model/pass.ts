import type { SourceId } from './ids.ts'
import type { SourceState } from './source.ts'

/**
 * How thorough a pass over a source is. `tail`: what is new, at the same cost for any store size; nothing if the file is
 * unchanged. `keys`: every key is compared. `values`: every value is compared, a slice at a time; a pass asks for its own
 * continuation.
 */
export const passDepths = ['tail', 'keys', 'values'] as const
export type PassDepth = (typeof passDepths)[number]

export const deeper = (one: PassDepth, other: PassDepth): PassDepth =>
  passDepths.indexOf(one) > passDepths.indexOf(other) ? one : other

export interface PassOrder {
  readonly id: SourceId
  readonly depth: PassDepth
  /**
   * True if a person asked to compare every value: the comparison begins anew and goes on to its end, and rows that it
   * misses are gone, however many.
   */
  readonly isAsked?: boolean
}

/** When to pass again, and how deep, even if the file does not change. */
export interface Again {
  readonly depth: PassDepth
  readonly inMs: number
}

/**
 * How a pass ended. Any `state` other than `ok` means that the source could not be read; the mirror keeps what it has.
 */
export interface PassEnd {
  readonly state: SourceState
  readonly detail: string | null
  readonly again: readonly Again[]
}

/**
 * If more rows than this, and more than this share of the source's rows, vanish at once, it may be an accident and not
 * a deletion.
 */
export interface MassRule {
  readonly rows: number
  readonly share: number
}

/** Rows that vanished and do not yet count as gone. */
export interface PendingLoss {
  readonly rows: number
  readonly of: number
  /** From this time on a comparison settles the loss; epoch milliseconds. */
  readonly confirmableAtMs: number
}
