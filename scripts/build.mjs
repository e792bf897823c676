// Compiles src/ into dist/. The folder is emptied first, so that a file deleted in src cannot linger as a command.
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
chmodSync(`${root}dist/cli/bin.js`, 0o755)
