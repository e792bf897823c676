import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** The page in Chromium: `npm run test:web`. A browser uses several processes, so three at a time are enough. */
export default defineConfig({ resolve, test: { ...shared, include: ['test/web/**/*.test.ts'], maxWorkers: 3 } })
