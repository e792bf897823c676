import { doTask } from '../purge/do-task.ts'
import type { PurgeTaskOrder, PurgeTaskOutcome } from '../purge/purge-orders.ts'
import type { Job } from './job.ts'

/** The part of a purge that works on files: archives are searched and rewritten, and every byte is checked. */
// oxlint-disable-next-line require-yield
export const purgeJob: Job<PurgeTaskOrder, PurgeTaskOutcome> = async function* (input) {
  return await doTask(input)
}
