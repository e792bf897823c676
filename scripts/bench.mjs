// Bundles the program, the page and the bench into a folder of their own, so that later edits do not change a running bench.
// Then runs the bench on plain Node with the given arguments.
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWeb } from './bundle-web.mjs'
import { bundle, bundleOne } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, '.bench')

rmSync(out, { recursive: true, force: true })
await bundle(join(root, 'src'), join(out, 'dist'))
await bundleWeb(join(root, 'src', 'web'), join(out, 'dist', 'web'))
await bundleOne(root, join(out, 'dist'), 'bench/run', ['playwright-core'])
// The program looks for both two folders above its own.
for (const beside of ['config', 'package.json']) cpSync(join(root, beside), join(out, beside), { recursive: true })

const run = join(out, 'dist', 'bench', 'run.js')
const { status } = spawnSync(process.execPath, [run, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = status ?? 1
