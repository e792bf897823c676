import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** The page in Chromium: `npm run test:web`. One browser at a time is enough for a machine with two cores. */
export default defineConfig({ resolve, test: { ...shared, include: ['test/web/**/*.test.ts'], maxWorkers: 1 } })
