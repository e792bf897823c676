import { readUsageFile } from '../api/tokens/read-usage-file.ts'
import type { UsageFileText, UsageOutcome } from '../api/http/api-context.ts'
import type { Mirror } from '../mirror/open.ts'
import { importUsage } from '../mirror/usage/usage-events.ts'

/**
 * Reads a usage file and keeps what it says.
 * @throws UserError `bad-csv`, `bad-columns`, `bad-cell` where it cannot be read; nothing of it is kept then
 */
export function takeUsageFile(db: Mirror, { text, timeZone }: UsageFileText, nowMs: number): UsageOutcome {
  const { events, unknownColumns } = readUsageFile(text, timeZone)
  return { ...importUsage(db, events, nowMs), unknownColumns }
}
