import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** A real PostgreSQL, which each file starts for itself: `npm run test:hub`. */
export default defineConfig({ resolve, test: { ...shared, include: ['test/hub/**/*.test.ts'], maxWorkers: 2 } })
