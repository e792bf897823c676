import { readUsageFile } from '../../src/api/tokens/usage-file.ts'
import type { UsageFileText, UsageOutcome } from '../../src/api/context.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { importUsage } from '../../src/mirror/usage/usage-events.ts'

/** Imports a usage file in the test's own process, as the mirror's writer does. */
export async function importUsageFile(db: Mirror, { text, timeZone }: UsageFileText): Promise<UsageOutcome> {
  const { events, unknownColumns } = readUsageFile(text, timeZone)
  return Promise.resolve({ ...importUsage(db, events, Date.now()), unknownColumns })
}
