import type { ArrangeThread } from '../model/thread.ts'
import type { KeyAllocator } from './key-allocator.ts'
import type { PendingTerms } from './pending-terms.ts'

/** What the writing of one transaction shares. */
export interface WriteTools {
  readonly arrange: ArrangeThread
  readonly terms: PendingTerms
  readonly keys: KeyAllocator
}
