import type { Question } from '../../api/questions.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Progress } from '../../model/progress.ts'

/** What a job gets besides its input. */
export interface JobContext {
  readonly mirrorPath: string
  /** Opens a read-only connection at the first call. The runner of the job closes it. */
  mirror(): Mirror
  onProgress(progress: Progress): void
}

/** A question, and how long its answer may take, in milliseconds. */
export interface SearchInput {
  readonly question: Question
  readonly deadlineMs: number
}

/** Every job: loads its code and runs it. A process loads only the jobs that it runs. */
const jobs = {
  /** Answers a search, a suggestion, statistics or tokens. The result is the answer of the question's kind. */
  search: async ({ question }: SearchInput, context: JobContext): Promise<unknown> =>
    (await import('../../api/questions.ts')).answerQuestion(context.mirror(), question),
  archive: load(async () => (await import('../archives/archive-job.ts')).archiveJob),
  verify: load(async () => (await import('../archives/archive-job.ts')).verifyJob),
  /** The parts of a purge that work on files: archives are rewritten, and every byte is checked. */
  'purge-archives': load(async () => (await import('../purge/purge-archives.ts')).purgeArchives),
  'purge-search': load(async () => (await import('../purge/byte-scan.ts')).scanBytes),
  'hub-meet': load(async () => (await import('./hub.ts')).hubMeetJob),
  'hub-describe': load(async () => (await import('./hub.ts')).hubDescribeJob),
  'hub-push': load(async () => (await import('./hub.ts')).hubPushJob),
  /** A part of a pull. */
  'hub-pull': load(async () => (await import('./hub.ts')).hubPullJob),
}

export type JobName = keyof typeof jobs

type Of<Work> = Work extends (input: infer Input, context: JobContext) => Promise<infer Result>
  ? { readonly input: Input; readonly result: Result }
  : never

/** Each kind of job with its input and its result. Both cross process boundaries as JSON. */
export type Jobs = { readonly [Name in JobName]: Of<(typeof jobs)[Name]> }

function load<Input, Result>(
  code: () => Promise<(input: Input, context: JobContext) => Promise<Result>>,
): (input: Input, context: JobContext) => Promise<Result> {
  return async (input, context) => (await code())(input, context)
}

/** Runs a job. @throws whatever the job throws */
export const runJob = <Name extends JobName>(name: Name, input: Jobs[Name]['input'], context: JobContext) =>
  // The name determines the input and the result.
  (jobs[name] as (input: Jobs[Name]['input'], context: JobContext) => Promise<Jobs[Name]['result']>)(input, context)

/** Runs work in steps to its end, which reports its progress. */
export async function driven<Result>(
  steps: Generator<Progress, Result> | AsyncGenerator<Progress, Result>,
  { onProgress }: Pick<JobContext, 'onProgress'>,
): Promise<Result> {
  for (;;) {
    const step = await steps.next()
    if (step.done === true) return step.value
    onProgress(step.value)
  }
}
