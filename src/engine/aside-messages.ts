import type { MessagePort } from 'node:worker_threads'
import type { AsideTaskName } from '../mirror/aside.ts'

/** Places in the memory that both threads share. */
export const SENT = 0
export const TAKEN = 1
/** The highest number of a task that was cancelled. */
export const CANCELLED = 2

export interface AsideSetup {
  readonly port: MessagePort
  readonly shared: Int32Array
}

export interface AsideOrder {
  readonly task: number
  readonly name: AsideTaskName
  readonly input: unknown
}

export type AsideMessage = { readonly task: number } & (
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'end' | 'failed' }
)
