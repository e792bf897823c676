import type { Question } from '../../api/questions.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Progress } from '../../model/progress.ts'
import type { scanBytes } from '../purge/byte-scan.ts'
import type { purgeArchives } from '../purge/purge-archives.ts'
import type { archiveJob, verifyJob } from '../archives/archive-job.ts'
import type { hubDescribeJob, hubMeetJob, hubPullJob, hubPushJob } from './hub.ts'

/** What a job gets besides its input. */
export interface JobContext {
  readonly mirrorPath: string
  /** Opens a read-only connection at the first call. The runner of the job closes it. */
  mirror(): Mirror
}

/** Work in bounded steps, which yields its progress. */
export type Job<Input, Result> = (
  input: Input,
  context: JobContext,
) => Generator<Progress, Result> | AsyncGenerator<Progress, Result>

type OfWork<Work> = Work extends (input: infer Input) => Promise<infer Result>
  ? { readonly input: Input; readonly result: Result }
  : never
type Of<Work> = Work extends Job<infer Input, infer Result> ? { readonly input: Input; readonly result: Result } : never

/** A question, and how long its answer may take, in milliseconds. */
export interface SearchInput {
  readonly question: Question
  readonly deadlineMs: number
}

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
  search: async () => {
    const { answerQuestion } = await import('../../api/questions.ts')
    return inOneStep(({ question, deadlineMs }, { mirror }) => answerQuestion(mirror(), question, deadlineMs))
  },
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

/** Runs a job to its end. @throws whatever the job throws */
export async function runJob<Name extends JobName>(
  name: Name,
  input: Jobs[Name]['input'],
  context: JobContext,
  onProgress: (progress: Progress) => void,
): Promise<Jobs[Name]['result']> {
  const job = await loadJob[name]()
  const steps = job(input, context)
  for (;;) {
    const step = await steps.next()
    if (step.done === true) return step.value
    onProgress(step.value)
  }
}
