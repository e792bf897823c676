// Compiles src/ and bench/ into a folder of their own, so that what is measured stays as it was when the run began,
// bundles the program beside them, for that is what people run, and runs the bench on plain Node with the arguments given.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, '.bench')
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

rmSync(out, { recursive: true, force: true })
execFileSync(process.execPath, [compiler, '-p', 'tsconfig.bench.json'], { cwd: root, stdio: 'inherit' })
await bundle(join(root, 'src'), join(out, 'dist'), ['engine/executor/forked-executor'])
// The program finds both two folders above its own.
for (const beside of ['config', 'package.json']) cpSync(join(root, beside), join(out, beside), { recursive: true })

const run = join(out, 'bench', 'run.js')
const { status } = spawnSync(process.execPath, [run, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
