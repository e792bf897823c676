import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'
import { UserError } from './model/user-error.ts'
import { requireRegular } from './regular-file.ts'

/**
 * better-sqlite3 is installed in two versions, because no single one runs everywhere. Version 13 needs Node-API 10, which
 * Node 20 lacks: it crashes. Version 12 crashes on Node 24: compiled with its headers, objects may only be freed while
 * JavaScript runs (the symptom is "Assertion failed: (env) != nullptr"). Both versions have the same interface.
 */
const FORMS = { napi: 'better-sqlite3-napi', plain: 'better-sqlite3' } as const
const NODE_API = 10

const load = createRequire(import.meta.url)

function isInstalled(name: string): boolean {
  try {
    load.resolve(name)
    return true
  } catch {
    return false
  }
}

const form = Number(process.versions.napi) >= NODE_API && isInstalled(FORMS.napi) ? FORMS.napi : FORMS.plain

/** SQLite's files beside a database. It would wait for a pipe in the place of one, without an end. */
const BESIDE = ['', '-journal', '-wal', '-shm'] as const

/**
 * The native addon is loaded with the first database. It may be missing, or compiled for another version of Node.
 * @throws RefusedFile if the file, or one of SQLite's beside it, is no regular file
 */
const Database = new Proxy(load(form) as typeof Sqlite, {
  construct(Form, given: unknown[], made) {
    const [path] = given
    if (typeof path === 'string' && path !== ':memory:') for (const end of BESIDE) requireRegular(path + end)
    try {
      return Reflect.construct(Form, given, made) as Sqlite.Database
    } catch (error) {
      throw isAboutAddon(error) ? addonTrouble(error) : error
    }
  },
})

// The package that looks for the addon sets no error code, but a list of the paths that it tried.
const isAboutAddon = (error: unknown): boolean =>
  error instanceof Error &&
  ('tries' in error || ('code' in error && ['ERR_DLOPEN_FAILED', 'MODULE_NOT_FOUND'].includes(String(error.code))))

function addonTrouble(cause: unknown): UserError {
  return new UserError(
    'sqlite-addon',
    `The installed better-sqlite3 was not compiled for this version of Node (${process.versions.node}).`,
    'Run "npm ci" again with this Node, in the folder of cursordex.',
    { cause },
  )
}

export default Database
