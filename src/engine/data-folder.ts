import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityAt } from '../indexer/open-safely/cursor-file.ts'
import { isSystemLitter } from '../model/system-litter.ts'
import { UserError } from '../model/user-error.ts'
import { readRegular, requireRegular } from '../regular-file.ts'

/**
 * Creates the folder for the mirror, the lock and the token. Only this user can open it.
 * @throws UserError `foreign-data-folder`, `foreign-data-file`, `shared-data-folder` or `no-data-folder`
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UserError('no-data-folder', `The data folder ${dataDir} cannot be created: ${reason}.`, OTHER_FOLDER, {
      cause: error,
    })
  }
  const stat = statSync(dataDir)
  if (!stat.isDirectory()) throw new UserError('no-data-folder', `${dataDir} is not a folder.`, OTHER_FOLDER)
  const us = process.geteuid?.()
  if (us === undefined) return
  if (stat.uid !== us) {
    const text = `The data folder ${dataDir} belongs to user ${stat.uid}, and cursordex runs as user ${us}.`
    throw new UserError('foreign-data-folder', text, OTHER_FOLDER)
  }
  if ((stat.mode & OTHERS) !== 0) refuseShared(dataDir)
  chmodSync(dataDir, 0o700)
  for (const name of OWN_FILES) makeOurs(join(dataDir, name), us)
}

const OTHERS = 0o077

/** Refuses a folder such as `/tmp` or a project's: closing it would lock others out of their own files. */
function refuseShared(dataDir: string): void {
  const names = readdirSync(dataDir)
  // On some systems the user's config file is in this folder too, and was there first.
  const foreign = names.find((name) => !HARMLESS.has(name) && !isSystemLitter(name) && !name.endsWith('.json'))
  if (foreign === undefined || names.some((name) => OWN_FILES.includes(name))) return
  const text = `Other users can open the folder ${dataDir}, and it contains files that are not from cursordex, such as ${foreign}.`
  const hint = 'Choose an empty or a new folder with --data-dir. cursordex closes it to everybody but you.'
  throw new UserError('shared-data-folder', text, hint)
}

/** Our own folder, and a folder that every new disk has. */
const HARMLESS = new Set(['archives', 'lost+found'])

const DATABASES = ['mirror.db', 'index.db'].flatMap((name) => [name, `${name}-wal`, `${name}-shm`])
const OWN_FILES = [...DATABASES, 'mirror.db-clean', 'user.db', 'daemon.lock', 'daemon.json', 'token', 'archives.json']

/**
 * A file that was restored from a backup may belong to another user or be read-only. SQLite gives the WAL the mode of its
 * database, so a read-only database would also get a WAL that SQLite cannot write.
 */
function makeOurs(path: string, us: number): void {
  requireRegular(path)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.uid !== us) {
    const text = `The file ${path} belongs to user ${stat.uid}, and cursordex runs as user ${us}.`
    throw new UserError('foreign-data-file', text, `Change its owner (chown). ${OTHER_FOLDER}`)
  }
  chmodSync(path, 0o600)
}

const OTHER_FOLDER = 'Choose another folder with --data-dir.'

export const mirrorPath = (dataDir: string): string => join(dataDir, 'mirror.db')

/** The contents of `daemon.json`, for other programs. `pid` is the process to signal. */
export interface DaemonFile {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
  readonly version: string
}

/** Of `daemon.json` and of the token, for whoever reads them. */
export const SMALL_BYTES_MAX = 64 * 1024

const daemonFile = (dataDir: string): string => join(dataDir, 'daemon.json')

/**
 * Writes `daemon.json`. A reader sees either the whole old file or the whole new one. The file contains the identity of
 * its folder, so a copy of the folder does not point to the daemon.
 */
export function writeDaemonFile(dataDir: string, content: DaemonFile): void {
  writePrivately(daemonFile(dataDir), `${JSON.stringify({ ...content, folder: identityAt(dataDir) }, null, 2)}\n`)
}

export const hasDaemonFile = (dataDir: string): boolean => existsSync(daemonFile(dataDir))

export function removeDaemonFile(dataDir: string): void {
  rmSync(daemonFile(dataDir), { force: true })
}

/** The bearer token of this data folder. It is created on first use. */
export function readToken(dataDir: string): string {
  const path = join(dataDir, 'token')
  if (existsSync(path)) {
    chmodSync(path, 0o600)
    const token = readRegular(path, SMALL_BYTES_MAX).toString().trim()
    if (token !== '') return token
  }
  return writeToken(path)
}

/**
 * Makes a new token. A running daemon reads the file at each request, so the old one stops working at once.
 * @returns the path of its file
 * @throws UserError `no-data-folder` if the folder does not exist
 */
export function rotateToken(dataDir: string): string {
  if (!existsSync(dataDir)) {
    throw new UserError('no-data-folder', `There is no data folder ${dataDir}.`, OTHER_FOLDER, { exitCode: 2 })
  }
  const path = join(dataDir, 'token')
  writeToken(path)
  return path
}

function writeToken(path: string): string {
  const token = randomBytes(32).toString('base64url')
  writePrivately(path, `${token}\n`)
  return token
}

/** Writes a file that only this user can read. It is written under another name first, so no reader sees half of it. */
export function writePrivately(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.new`
  try {
    rmSync(temporary, { force: true })
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
