import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Tests that start the real program start what `npm start` starts: the compiled one. */
export default function buildOnce(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))], {
    stdio: 'inherit',
  })
}
