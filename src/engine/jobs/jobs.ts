import type { scanBytes } from '../purge/byte-scan.ts'
import type { purgeArchives } from '../purge/purge-archives.ts'
import type { archiveJob, verifyJob } from '../archives/archive-job.ts'
import type { hubDescribeJob, hubMeetJob, hubPullJob, hubPushJob } from './hub.ts'
import type { Job, JobContext } from './job.ts'
import type { SearchInput } from './search.ts'

type OfWork<Work> = Work extends (input: infer Input) => Promise<infer Result>
  ? { readonly input: Input; readonly result: Result }
  : never
type Of<Work> = Work extends Job<infer Input, infer Result> ? { readonly input: Input; readonly result: Result } : never

/** Each kind of job with its input and its result. Both cross process boundaries as JSON. */
export interface Jobs {
  /** Answers a search, a suggestion, statistics or tokens. The result is the answer of the question's kind. */
  readonly search: { readonly input: SearchInput; readonly result: unknown }
  readonly archive: Of<typeof archiveJob>
  readonly verify: Of<typeof verifyJob>
  /** The parts of a purge that work on files: archives are rewritten, and every byte is checked. */
  readonly 'purge-archives': OfWork<typeof purgeArchives>
  readonly 'purge-search': OfWork<typeof scanBytes>
  readonly 'hub-meet': Of<typeof hubMeetJob>
  readonly 'hub-describe': Of<typeof hubDescribeJob>
  readonly 'hub-push': Of<typeof hubPushJob>
  /** A part of a pull. */
  readonly 'hub-pull': Of<typeof hubPullJob>
}

export type JobName = keyof Jobs

type Loaders = { readonly [Name in JobName]: () => Promise<Job<Jobs[Name]['input'], Jobs[Name]['result']>> }

/** Loads a job's code. A process loads only the jobs that it runs. */
export const loadJob: Loaders = {
  search: async () => (await import('./search.ts')).searchJob,
  archive: async () => (await import('../archives/archive-job.ts')).archiveJob,
  verify: async () => (await import('../archives/archive-job.ts')).verifyJob,
  'purge-archives': async () => inOneStep((await import('../purge/purge-archives.ts')).purgeArchives),
  'purge-search': async () => inOneStep((await import('../purge/byte-scan.ts')).scanBytes),
  'hub-meet': async () => (await import('./hub.ts')).hubMeetJob,
  'hub-describe': async () => (await import('./hub.ts')).hubDescribeJob,
  'hub-push': async () => (await import('./hub.ts')).hubPushJob,
  'hub-pull': async () => (await import('./hub.ts')).hubPullJob,
}

/** A job without steps in between, for example because SQLite cannot be interrupted here. */
const inOneStep = <Input, Result>(
  work: (input: Input, context: JobContext) => Result | Promise<Result>,
): Job<Input, Result> =>
  // oxlint-disable-next-line require-yield
  async function* (input, context) {
    return await work(input, context)
  }
