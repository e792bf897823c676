import type { Estimate } from '../mirror/usage/estimates.ts'

/** Orders a slice of work. */
export interface EstimateOrder {
  /** How long it may take, in milliseconds. */
  readonly sliceMs: number
}

export type EstimateReply =
  | {
      readonly kind: 'slice'
      readonly estimates: readonly Estimate[]
      /** How many messages wait still, as far as is known. */
      readonly left: number
      /** Nothing waits any more. */
      readonly isDone: boolean
    }
  | { readonly kind: 'failed'; readonly message: string; readonly isDamage: boolean }
