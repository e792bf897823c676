import { UserError } from '../model/user-error.ts'
import type { ArchiveOrder, ArchiveResult } from './archive-orders.ts'
import { startOrder, type OrderedWork } from './one-order.ts'

export interface Progress {
  readonly done: number
  readonly total: number
}

export type StartArchiveWork = (
  order: ArchiveOrder,
  onProgress: (progress: Progress) => void,
) => OrderedWork<ArchiveResult>

/** Starts a process of low priority that obeys one order. */
export const startArchiveProcess: StartArchiveWork = (order, onProgress) => {
  const hint = 'The runs before are as they were; it is tried again.'
  const died = new UserError('archive-died', 'The process that was at work on the archive ended.', hint)
  return startOrder(order, { program: 'archive-child', died, onProgress })
}
