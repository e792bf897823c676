import { readUsageFile } from '../../src/api/usage-file.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { importUsage, type UsageImport } from '../../src/mirror/usage/usage-events.ts'

/** Imports a usage file in the test's own process, as the mirror's writer does. */
export const importUsageFile = async (db: Mirror, text: string): Promise<UsageImport> =>
  Promise.resolve(importUsage(db, readUsageFile(text), Date.now()))
