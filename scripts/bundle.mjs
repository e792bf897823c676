// Makes the programs of src/ into plain JavaScript, what each loads later in chunks beside it. Types are taken
// away and not checked: `npm run check` does that, and the tests do before they start.
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'

/** What is started by its path: the command line, and what it starts as threads and processes of their own. */
const programs = ['cli/bin', 'engine/writer-thread', 'engine/job-child', 'sample/grow-child']

/**
 * Each program is a bundle of its own, for two that share code would share it in many small files, and to load those
 * takes a start some 15 ms longer. Every file comes to lie one folder deep, as the programs do in src:
 * `../engine/job-child.js` and `../../package.json` lead from each to the same place.
 * @param more further modules that are to be found under their names
 */
export async function bundle(source, target, more = []) {
  for (const name of [...programs, ...more]) await bundleOne(source, target, name)
  chmodSync(join(target, 'cli', 'bin.js'), 0o755)
  mkdirSync(join(target, 'sample'), { recursive: true })
  copyFileSync(join(source, 'sample', 'dialogues.jsonl'), join(target, 'sample', 'dialogues.jsonl'))
}

/** A module further down comes to lie one folder deep, too. */
export const outputName = (name) => `${name.split('/')[0]}/${basename(name)}`

async function bundleOne(source, target, name) {
  const bundled = await rolldown({
    input: { [outputName(name)]: join(source, `${name}.ts`) },
    platform: 'node',
    // The other form of jsonc-parser finds its parts in a way that no bundler can follow.
    resolve: { mainFields: ['module', 'main'] },
    tsconfig: false,
    logLevel: 'warn',
  })
  await bundled.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `chunks/${basename(name)}-[name].js`,
    sourcemap: true,
    // Names stay, so that a stack can be read. Comments and indents are held in memory as long as a process runs: with
    // them the daemon is 8 MB larger at rest.
    minify: { compress: false, mangle: false },
  })
  await bundled.close()
}
