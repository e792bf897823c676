import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { sqliteAlias } from './test/helpers/sqlite-alias.ts'

export default defineConfig({
  resolve: { alias: [sqliteAlias] },
  test: {
    include: ['test/**/*.test.ts'],
    // Theirs is vitest.soak.config.ts.
    exclude: [...configDefaults.exclude, 'test/soak/**'],
    globalSetup: ['test/helpers/build-once.ts'],
    // Every test file sees an empty home of its own: nothing here may open the machine's real Cursor.
    setupFiles: ['test/helpers/empty-home.ts'],
    pool: 'forks',
    // The least machine has two cores; by default one of them would idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // No test says by it how fast something is: it ends what hangs, on a machine that has other work too.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
