import type { MessagePort } from 'node:worker_threads'

/** What the thread beside the ingest thread is asked for; each is answered, in order. */
export type AsideTask =
  | { readonly kind: 'read'; readonly order: unknown }
  | { readonly kind: 'read-on' }
  | { readonly kind: 'cut'; readonly parts: readonly string[] }

export interface AsideSetup {
  readonly port: MessagePort
  /** How many tasks were answered, to be waited on. */
  readonly answered: Int32Array
}

export interface AsideOrder {
  readonly id: number
  readonly task: AsideTask
}

export interface AsideAnswer {
  readonly id: number
  /** Null where the task failed. */
  readonly answer: unknown
}
