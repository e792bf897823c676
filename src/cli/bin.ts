#!/usr/bin/env node
// Old versions of Node must be able to parse this file and its static imports, so that it can say that they are too old.
// Therefore module names have no "node:" prefix, and the program itself is loaded by a dynamic import.
import { existsSync, readFileSync } from 'fs'
import { createRequire } from 'module'
import { whyNodeCannotRun } from './node-check.ts'

/** Reads the version from the package's file, because importing the package would load the addon. */
function versionOfPackage(name: string): string | null {
  const folders = createRequire(import.meta.url).resolve.paths(name) || []
  const file = folders.map((folder) => `${folder}/${name}/package.json`).find((path) => existsSync(path))
  return file === undefined ? null : String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version)
}

const OPEN_FILES_MIN = 128

/** A daemon has fifty files open, and more for each connection. Below that, parts of the program could not be loaded. */
function whyTooFewFiles(): string | null {
  const limits = process.platform === 'linux' ? readFileSync('/proc/self/limits', 'utf8') : ''
  const limit = Number((/^Max open files +(\d+)/m.exec(limits) || [])[1])
  if (!(limit < OPEN_FILES_MIN)) return null
  return `This process may open only ${limit} files, and cursordex needs ${OPEN_FILES_MIN}. Allow more: ulimit -n 256.`
}

const nodeRefusal = whyNodeCannotRun({
  node: process.versions.node,
  napi: process.versions.napi,
  sqliteAddon: versionOfPackage('better-sqlite3'),
  napiAddon: versionOfPackage('better-sqlite3-napi'),
})
const refusal = nodeRefusal === null ? whyTooFewFiles() : nodeRefusal

const argv = process.argv.slice(2)

/**
 * If the arguments surely start a daemon, its writer's thread starts before anything else, because it takes longest to
 * load. A signal during loading ends the program at once: nothing was created yet.
 */
function startEarly() {
  // Without a command the daemon starts too. A word that is not an option may be a command, or the value of an option.
  const isDaemon = argv[0] === 'serve' || argv[0] === 'demo' || argv.every((word) => word.startsWith('--'))
  if (!isDaemon || argv.some((word) => word === '--help' || word === '-h' || word === '--version')) return null
  process.on('SIGINT', () => process.exit(0)).on('SIGTERM', () => process.exit(0))
  return import('../engine/start-writer-thread.ts').then(({ startWriterThread }) => startWriterThread())
}

if (refusal === null) {
  const thread = startEarly()
  Promise.all([import('./main.ts'), import('./process-context.ts')])
    .then(([{ runCli }, { processContext }]) => runCli(argv, processContext(thread)))
    .then((exitCode) => process.exit(exitCode))
    .catch((error: unknown) => {
      process.stderr.write(`cursordex could not start: ${error instanceof Error ? error.message : String(error)}\n`)
      process.exitCode = 1
    })
} else {
  process.stderr.write(`${refusal}\n`)
  process.exitCode = 1
}
