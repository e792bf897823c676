import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/**
 * Real daemons, kills, harm to Cursor, hostile input and load, one seed each: `npm run test:system`. These tests wait for
 * processes most of the time, so three run on a core.
 */
export default defineConfig({
  resolve,
  test: { ...shared, include: ['test/system/**/*.test.ts'], maxWorkers: availableParallelism() * 3 },
})
