import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'
import { UserError } from './model/user-error.ts'

/**
 * better-sqlite3 is installed in two versions, for no single one runs everywhere: 13 is built for Node-API 10, which Node
 * 20 lacks and dies of; and Node 24 dies of 12, whose objects, once compiled with its headers, may only be freed while
 * JavaScript runs (the symptom is "Assertion failed: (env) != nullptr"). Both speak the same language.
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

/** The compiled half is loaded with the first database: by then it may be that of another Node, or never compiled. */
const Database = new Proxy(load(form) as typeof Sqlite, {
  construct(Form, given: unknown[], made) {
    try {
      return Reflect.construct(Form, given, made) as Sqlite.Database
    } catch (error) {
      throw isAboutAddon(error) ? addonTrouble(error) : error
    }
  },
})

// The package that looks for the compiled half gives its error no code, but the list of where it looked.
const isAboutAddon = (error: unknown): boolean =>
  error instanceof Error &&
  ('tries' in error || ('code' in error && ['ERR_DLOPEN_FAILED', 'MODULE_NOT_FOUND'].includes(String(error.code))))

function addonTrouble(cause: unknown): UserError {
  return new UserError(
    'sqlite-addon',
    `The installed better-sqlite3 was not compiled for this Node, ${process.versions.node}.`,
    'Run "npm ci" again with this Node, in the folder of cursordex.',
    { cause },
  )
}

export default Database
