import type { Question } from '../../api/questions.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Progress } from '../../model/progress.ts'

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

/** A question, and how long its answer may take, in milliseconds. */
export interface SearchInput {
  readonly question: Question
  readonly deadlineMs: number
}

/** Loads a job's code. A process loads only the jobs that it runs. */
const loadJob = {
  /** Answers a search, a suggestion, statistics or tokens. The result is the answer of the question's kind. */
  search: async () => {
    const { answerQuestion } = await import('../../api/questions.ts')
    return inOneStep<SearchInput, unknown>(({ question, deadlineMs }, context) =>
      answerQuestion(context.mirror(), question, deadlineMs),
    )
  },
  archive: async () => (await import('../archives/archive-job.ts')).archiveJob,
  verify: async () => (await import('../archives/archive-job.ts')).verifyJob,
  /** The parts of a purge that work on files: archives are rewritten, and every byte is checked. */
  'purge-archives': async () => inOneStep((await import('../purge/purge-archives.ts')).purgeArchives),
  'purge-search': async () => inOneStep((await import('../purge/byte-scan.ts')).scanBytes),
  'hub-meet': async () => (await import('./hub.ts')).hubMeetJob,
  'hub-describe': async () => (await import('./hub.ts')).hubDescribeJob,
  'hub-push': async () => (await import('./hub.ts')).hubPushJob,
  /** A part of a pull. */
  'hub-pull': async () => (await import('./hub.ts')).hubPullJob,
}

export type JobName = keyof typeof loadJob

type Of<Work> = Work extends Job<infer Input, infer Result> ? { readonly input: Input; readonly result: Result } : never

/** Each kind of job with its input and its result. Both cross process boundaries as JSON. */
export type Jobs = { readonly [Name in JobName]: Of<Awaited<ReturnType<(typeof loadJob)[Name]>>> }

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
  // The name determines the input and the result.
  const job = (await loadJob[name]()) as Job<Jobs[Name]['input'], Jobs[Name]['result']>
  const steps = job(input, context)
  for (;;) {
    const step = await steps.next()
    if (step.done === true) return step.value
    onProgress(step.value)
  }
}
