// Bundles the programs of src/ as plain JavaScript, with chunks for modules that are loaded later. Types are removed and
// not checked. `npm run check` checks them.
import { chmodSync, cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'

/** Programs that are started by path: the command line, and its threads and processes. */
const programs = ['cli/bin', 'engine/writer-thread', 'engine/index-thread', 'engine/job-child', 'demo/agent']

/**
 * Each program is a separate bundle. Bundles with shared code would share it in many small files, and loading those takes
 * about 15 ms longer at each start. Every program is one folder deep, as in src, so that `../engine/job-child.js` and
 * `../../package.json` lead to the same place.
 * @param more modules that are bundled under their own names too
 * @returns the paths of all bundled modules
 */
export async function bundle(source, target, more = []) {
  const modules = []
  for (const name of [...programs, ...more]) modules.push(...(await bundleOne(source, target, name)))
  chmodSync(join(target, 'cli', 'bin.js'), 0o755)
  // The code of the service is a chunk.
  cpSync(join(source, 'cli/commands/service/templates'), join(target, 'chunks', 'templates'), { recursive: true })
  return modules
}

/** Deeper modules are written one folder deep too. */
export const outputName = (name) => `${name.split('/')[0]}/${basename(name)}`

/** @param external packages that are not bundled */
export async function bundleOne(source, target, name, external = []) {
  const bundled = await rolldown({
    input: { [outputName(name)]: join(source, `${name}.ts`) },
    platform: 'node',
    external,
    // The other build of jsonc-parser loads its parts in a way that bundlers cannot follow.
    resolve: { mainFields: ['module', 'main'] },
    tsconfig: false,
    logLevel: 'warn',
  })
  const { output } = await bundled.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `chunks/${basename(name)}-[name].js`,
    sourcemap: true,
    // Names stay, so that stacks are readable. Comments and indentation are removed, because a process keeps its source in
    // memory: with them the daemon needs 8 MB more at rest.
    minify: { compress: false, mangle: false },
  })
  await bundled.close()
  return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
}
