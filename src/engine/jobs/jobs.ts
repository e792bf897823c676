import type { PurgeTaskOrder, PurgeTaskOutcome } from '../purge/purge-orders.ts'
import type { ArchiveInput, ArchiveResult, VerifyInput, VerifyResult } from './archive.ts'
import type { EstimateInput, EstimateSlice } from './estimate.ts'
import type { Job } from './job.ts'
import type { SearchInput } from './search.ts'

/** Each kind of job with its input and its result. Both cross process boundaries as JSON. */
export interface Jobs {
  /** The result is the answer of the question's kind. */
  readonly search: { readonly input: SearchInput; readonly result: unknown }
  readonly estimate: { readonly input: EstimateInput; readonly result: EstimateSlice }
  readonly archive: { readonly input: ArchiveInput; readonly result: ArchiveResult }
  readonly verify: { readonly input: VerifyInput; readonly result: VerifyResult }
  readonly purge: { readonly input: PurgeTaskOrder; readonly result: PurgeTaskOutcome }
  /** True if the full-text tables are sound. */
  readonly 'check-terms': { readonly input: null; readonly result: boolean }
}

export type JobName = keyof Jobs

type Loaders = { readonly [Name in JobName]: () => Promise<Job<Jobs[Name]['input'], Jobs[Name]['result']>> }

/** Loads a job's code. A process loads only the jobs that it runs. */
export const loadJob: Loaders = {
  search: async () => (await import('./search.ts')).searchJob,
  estimate: async () => (await import('./estimate.ts')).estimateJob,
  archive: async () => (await import('./archive.ts')).archiveJob,
  verify: async () => (await import('./archive.ts')).verifyJob,
  purge: async () => (await import('./purge.ts')).purgeJob,
  'check-terms': async () => (await import('./check-terms.ts')).checkTermsJob,
}
