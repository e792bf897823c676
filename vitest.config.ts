import { configDefaults, defineConfig } from 'vitest/config'
import { resolve, shared } from './vitest.shared.ts'

/** What runs in one process: `npm test`. */
export default defineConfig({
  resolve,
  test: {
    ...shared,
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/system/**', 'test/web/**', 'test/soak/**', 'test/hub/**'],
  },
})
