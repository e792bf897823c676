import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'

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
const Database = load(form) as typeof Sqlite

export default Database
