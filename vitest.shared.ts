import { availableParallelism } from 'node:os'
import type { ViteUserConfig } from 'vitest/config'

/** What all three tiers of tests share. */
export const shared = {
  globalSetup: ['test/helpers/build-once.ts'],
  // Every test file sees an empty home of its own: nothing here may open the machine's real Cursor.
  setupFiles: ['test/helpers/empty-home.ts'],
  pool: 'forks',
  // A test waits for files, processes and answers half of the time.
  maxWorkers: availableParallelism() * 2,
  // No test says by it how fast something is: it ends what hangs, on a machine that has other work too.
  testTimeout: 240_000,
  hookTimeout: 240_000,
} satisfies NonNullable<ViteUserConfig['test']>

/** What tests import as better-sqlite3 is what the program loads (`src/sqlite.ts`): a process must not hold both forms. */
export const resolve = {
  alias: [
    {
      find: /^better-sqlite3$/,
      replacement: Number(process.versions.napi) >= 10 ? 'better-sqlite3-napi' : 'better-sqlite3',
    },
  ],
}
