import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** Real daemons, kills, harm to Cursor, hostile input and load, one seed each: `npm run test:system`. */
export default defineConfig({ resolve, test: { ...shared, include: ['test/system/**/*.test.ts'] } })
