import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = (...words: readonly string[]): void => {
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit' })
}

/**
 * Tests that start the real program start the bundle, like `npm start`. The bundler removes types without checking
 * them, so they are checked here: no test runs on sources with a type error.
 */
export default function buildOnce(): void {
  run('scripts/build.mjs')
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
}
