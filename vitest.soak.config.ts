import { defineConfig } from 'vitest/config'
import { sqliteAlias } from './test/helpers/sqlite-alias.ts'

/** Tests that take long, or want more of the machine than Node: `npm run test:soak`. */
export default defineConfig({
  resolve: { alias: [sqliteAlias] },
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/helpers/build-once.ts'],
    setupFiles: ['test/helpers/empty-home.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
