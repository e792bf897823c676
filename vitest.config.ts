import { configDefaults, defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** They replace modules of the program or of Node. */
const replacing = [
  'test/api/archives/archives.test.ts',
  'test/daemon/listen.test.ts',
  'test/indexer/cli-store/untouched.test.ts',
  'test/indexer/open-safely/checked-copy.test.ts',
  'test/indexer/open-safely/lock-trap.test.ts',
]

/**
 * What runs in one process: `npm test`. Loading our modules takes longer than most tests, so a process loads them once. A
 * file that replaces a module has a process of its own.
 */
export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        test: {
          ...shared,
          name: 'together',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            ...['system', 'web', 'soak', 'hub'].map((tier) => `test/${tier}/**`),
            ...replacing,
          ],
        },
      },
      { resolve, test: { ...shared, name: 'alone', include: replacing } },
    ],
  },
})
