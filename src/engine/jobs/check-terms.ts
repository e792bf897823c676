import { areTermsSound } from '../../mirror/maintenance/check-pages.ts'
import type { Job } from './job.ts'

/** Checks the full-text tables: one statement of many seconds that needs about 60 MB. */
// oxlint-disable-next-line require-yield
export const checkTermsJob: Job<null, boolean> = function* (_input, context) {
  return areTermsSound(context.mirror())
}
