import type { Progress } from '../../model/progress.ts'
import type { Mirror } from '../../mirror/open.ts'

/** What a job gets besides its input. */
export interface JobContext {
  readonly mirrorPath: string
  /** Opens a read-only connection at the first call. The runner of the job closes it. */
  mirror(): Mirror
}

/** Work in bounded steps. It yields its progress, and can be ended between two steps. */
export type Job<Input, Result> = (
  input: Input,
  context: JobContext,
) => Generator<Progress | undefined, Result> | AsyncGenerator<Progress | undefined, Result>
