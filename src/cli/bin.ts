#!/usr/bin/env node
// Old Nodes must be able to parse this file, and what it imports at the top, to be told that they are too old: hence
// the module names without "node:" and the program itself by dynamic import.
import { existsSync, readFileSync } from 'fs'
import { createRequire } from 'module'
import { whyNodeCannotRun } from './node-check.ts'

/** Read as a file: asking the package itself would load the addon. */
function versionOfPackage(name: string): string | null {
  const folders = createRequire(import.meta.url).resolve.paths(name) || []
  const file = folders.map((folder) => `${folder}/${name}/package.json`).find((path) => existsSync(path))
  return file === undefined ? null : String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version)
}

const refusal = whyNodeCannotRun({
  node: process.versions.node,
  napi: process.versions.napi,
  sqliteAddon: versionOfPackage('better-sqlite3'),
  napiAddon: versionOfPackage('better-sqlite3-napi'),
})

const argv = process.argv.slice(2)

/**
 * Where the words surely ask for a daemon: its thread takes longest to load, and begins before anything else. Who tells
 * the program to stop while it loads has it stopped: nothing was made yet.
 */
function startEarly() {
  // Without a command it is one, too; a word that is no option may be one's value, or a command.
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
