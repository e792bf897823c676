import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { plantedInSystem, resolve, shared } from './vitest.shared.ts'

/**
 * Real daemons, kills, harm to Cursor, hostile input and load, one seed each: `npm run test:system`. These tests wait for
 * processes most of the time, so one more runs than there are cores. The faults that are planted to check these suites run
 * in `npm run test:soak`.
 */
export default defineConfig({
  resolve,
  test: {
    ...shared,
    include: ['test/system/**/*.test.ts'],
    exclude: [...configDefaults.exclude, plantedInSystem],
    maxWorkers: availableParallelism() + 1,
  },
})
