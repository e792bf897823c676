import { indexDamaged, isDamage, isOfIndex, mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import { UserError } from '../../model/user-error.ts'
import type { Progress } from '../../model/progress.ts'
import type { JobName, Jobs } from '../jobs/jobs.ts'

export interface RunOptions {
  /** Ends the job. Its promise then rejects. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** Runs jobs, in separate processes or in this one. */
export interface Executor {
  /**
   * @throws UserError of the job; `stopped` after `close`; `mirror-damaged`; a code that ends in `-died` if its process
   *   ended unexpectedly; `deadline` and `search-busy` for searches
   */
  run<Name extends JobName>(name: Name, input: Jobs[Name]['input'], options?: RunOptions): Promise<Jobs[Name]['result']>
  /** Makes later searches forget what they remember of the mirror. */
  renew(): void
  /** Resolves when no job has the mirror open. */
  close(): Promise<void>
  /** Processes whose memory counts as the daemon's. */
  readonly pids: readonly number[]
  /** True while somebody waits for a search. */
  readonly isSearching: boolean
}

/** A message to a process that runs jobs. It gets one job at a time. */
export type JobOrder = { [Name in JobName]: { readonly name: Name; readonly input: Jobs[Name]['input'] } }[JobName]

/** Any message to it. `prepare` has no reply. */
export type ChildOrder = JobOrder | { readonly name: 'prepare'; readonly job: JobName }

/** A message from such a process: progress, and finally a result or a failure. */
export type JobReply =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Why a job failed, as it crosses a process boundary. */
export type Failure =
  | ({ readonly kind: 'user' } & Pick<UserError, 'code' | 'message' | 'hint' | 'status'>)
  | { readonly kind: 'damage'; readonly message: string }
  | { readonly kind: 'fault'; readonly message: string }

export function failureOf(error: unknown): Failure {
  if (error instanceof UserError) {
    const { code, message, hint, status } = error
    return { kind: 'user', code, message, hint, status }
  }
  if (isOfIndex(error)) return failureOf(indexDamaged(error))
  const message = error instanceof Error ? error.message : String(error)
  return { kind: isDamage(error) ? 'damage' : 'fault', message }
}

export function errorOf(failure: Failure, name: JobName): Error {
  if (failure.kind === 'user') return new UserError(failure.code, failure.message, failure.hint, failure)
  return failure.kind === 'damage' ? mirrorDamaged(failure.message) : new Error(`${name} failed: ${failure.message}`)
}

/** What a person reads who asked. If the index is damaged, it is made anew meanwhile; if the mirror is, the daemon ends. */
export const explainSearch = ({ question }: Jobs['search']['input'], error: unknown): unknown =>
  isDamage(error) && (question.kind === 'search' || question.kind === 'suggest') ? indexDamaged(error) : error

export const stopped = (): UserError => new UserError('stopped', 'The daemon is stopping.', 'Start it again.')

/**
 * The error of a job whose process ended without a result.
 * @param code why it could not be started; null if it ran
 */
export function diedError(name: JobName, code: string | null): UserError {
  if (code !== null) {
    const hint =
      'Ask again when the system has memory and processes to spare. If Node was removed, start the daemon again.'
    const kind = name.startsWith('purge') ? 'purge' : name
    return new UserError(`${kind}-died`, `The ${name} process could not be started (${code}).`, hint)
  }
  if (name === 'search') return new UserError('search-died', 'The search process ended unexpectedly.', 'Ask again.')
  if (name === 'purge-archives' || name === 'purge-search')
    return new UserError('purge-died', 'The purge process ended unexpectedly.', 'Purge again.')
  if (name === 'archive' || name === 'verify') {
    const hint = 'Earlier archives are unchanged. It will be tried again.'
    return new UserError('archive-died', 'The archive process ended unexpectedly.', hint)
  }
  return new UserError(`${name}-died`, `The ${name} process ended unexpectedly.`, 'It will be started again.')
}
