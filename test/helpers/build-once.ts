import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = (...words: readonly string[]): void => {
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit' })
}

/**
 * Tests that start the real program start what `npm start` starts: the bundled one. The bundler takes types away without
 * a look at them, so that they are checked here: no test runs on sources with a type error.
 */
export default function buildOnce(): void {
  run('scripts/build.mjs')
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
}
