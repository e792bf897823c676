// Compiles src/ and bench/ into a separate folder, so that later edits do not change a running bench. Also bundles the
// program there, because people run the bundle. Then runs the bench on plain Node with the given arguments.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWeb } from './bundle-web.mjs'
import { bundle } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, '.bench')
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

rmSync(out, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.bench.json'], { cwd: root, stdio: 'inherit' })
await bundle(join(root, 'src'), join(out, 'dist'), ['engine/executor/forked-executor'])
await bundleWeb(join(root, 'src', 'web'), join(out, 'dist', 'web'))
// The program looks for both two folders above its own.
for (const beside of ['config', 'package.json']) cpSync(join(root, beside), join(out, beside), { recursive: true })

const run = join(out, 'bench', 'run.js')
const { status } = spawnSync(process.execPath, [run, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
