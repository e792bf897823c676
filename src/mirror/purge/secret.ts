import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** Beside the mirror and not in it: who has only the mirror's file cannot try short texts against their hashes. */
export const SECRET_FILE = 'purge.key'

const secretPath = (db: Mirror): string => join(dirname(db.name), SECRET_FILE)

/** Null where there is none, or none any more: then texts that were purged cannot be known again. */
export function readSecret(db: Mirror): string | null {
  try {
    const secret = readFileSync(secretPath(db), 'utf8').trim()
    return secret === '' ? null : secret
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** The key to hashes of texts; made, and on the disk, when it is first needed. */
export function ensureSecret(db: Mirror): string {
  const held = readSecret(db)
  if (held !== null) return held
  const secret = randomBytes(32).toString('base64url')
  const beside = `${secretPath(db)}.${process.pid}.new`
  const file = openSync(beside, 'w', 0o600)
  try {
    writeSync(file, `${secret}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, secretPath(db))
  return secret
}

const READ_SALT = `select salt from purge_salt order by salt limit 1`
const ADD_SALT = `insert into purge_salt (salt) values (?)`

export const readSalt = (db: Mirror): string | null => prepared<{ salt: string }>(db, READ_SALT).get()?.salt ?? null

export function ensureSalt(db: Mirror): string {
  const held = readSalt(db)
  if (held !== null) return held
  const salt = randomBytes(32).toString('base64url')
  prepared(db, ADD_SALT).run(salt)
  return salt
}
