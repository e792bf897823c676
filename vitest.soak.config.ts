import { defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** Tests that take long, or want more of the machine than Node: `npm run test:soak`. */
export default defineConfig({
  resolve,
  test: { ...shared, include: ['test/soak/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
})
