import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { identityAt } from '../indexer/open-safely/file-identity.ts'
import { isSystemLitter } from '../model/system-litter.ts'
import { UserError } from '../model/user-error.ts'

/**
 * Makes the folder that holds mirror, lock and token, for this user alone.
 * @throws UserError `foreign-data-folder`, `foreign-data-file`, `shared-data-folder`, `no-data-folder` or
 *   `readonly-data-folder`
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UserError('no-data-folder', `The data folder ${dataDir} cannot be made: ${reason}.`, OTHER_FOLDER, {
      cause: error,
    })
  }
  const stat = statSync(dataDir)
  if (!stat.isDirectory()) throw new UserError('no-data-folder', `${dataDir} is not a folder.`, OTHER_FOLDER)
  const us = process.geteuid?.()
  if (us === undefined) return
  if (stat.uid !== us) {
    throw new UserError(
      'foreign-data-folder',
      `The data folder ${dataDir} belongs to user ${stat.uid}, and cursordex runs as user ${us}.`,
      OTHER_FOLDER,
    )
  }
  if ((stat.mode & OTHERS) !== 0) refuseShared(dataDir)
  try {
    chmodSync(dataDir, 0o700)
  } catch (error) {
    throw isReadOnly(error) ? readOnly(dataDir, error) : error
  }
  for (const name of OWN_FILES) makeOurs(join(dataDir, name), us)
}

const isReadOnly = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EROFS'

/** Such as a backup that is mounted, or a disk that the system found faulty. */
const readOnly = (dataDir: string, cause: unknown): UserError =>
  new UserError(
    'readonly-data-folder',
    `The data folder ${dataDir} lies on a disk that can only be read.`,
    'Mount it writable, or copy the folder and name the copy with --data-dir.',
    { cause },
  )

const OTHERS = 0o077

/** Closing a folder such as `/tmp`, or one of a project, to all others would take from them what is theirs. */
function refuseShared(dataDir: string): void {
  const names = readdirSync(dataDir)
  // On some systems a person's settings lie there too, and before anything else does.
  const foreign = names.find((name) => !HARMLESS.has(name) && !isSystemLitter(name) && !name.endsWith('.json'))
  if (foreign === undefined || names.some((name) => OWN_FILES.includes(name))) return
  throw new UserError(
    'shared-data-folder',
    `The folder ${dataDir} is open to others and holds what is not of cursordex, such as ${foreign}.`,
    'Choose an empty folder, or one that is not there yet, with --data-dir: it is closed to all but you.',
  )
}

/** Our own folder, and what a disk is made with. */
const HARMLESS = new Set(['archives', 'lost+found'])

const OWN_FILES = [
  'mirror.db',
  'mirror.db-wal',
  'mirror.db-shm',
  'daemon.lock',
  'daemon.json',
  'token',
  'archives.json',
]

/**
 * A file that was brought back from a backup may be somebody else's, or not to be written: SQLite makes what stands
 * beside a database with the database's own mode, and is then kept from writing by that.
 */
function makeOurs(path: string, us: number): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (stat.uid !== us) {
    throw new UserError(
      'foreign-data-file',
      `The file ${path} belongs to user ${stat.uid}, and cursordex runs as user ${us}.`,
      'Have it given to you (chown), or choose another folder with --data-dir.',
    )
  }
  chmodSync(path, 0o600)
}

/** One level at a time: below some folders of the system, Node's own recursion never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // A command that starts in the same moment may have made it.
    if (!existsSync(path)) throw error
  }
}

const OTHER_FOLDER = 'Choose a folder of your own with --data-dir.'

export const mirrorPath = (dataDir: string): string => join(dataDir, 'mirror.db')

/** What `daemon.json` tells other programs: `pid` is the process to signal. */
export interface DaemonFile {
  readonly pid: number
  readonly url: string
  readonly startedAt: string
  readonly version: string
}

const daemonFile = (dataDir: string): string => join(dataDir, 'daemon.json')

/**
 * Written beside and renamed: a reader sees the old file or the new one, whole. It names the folder that it is written
 * in, so that in a copy of that folder it names no daemon.
 */
export function writeDaemonFile(dataDir: string, told: DaemonFile): void {
  writePrivately(daemonFile(dataDir), `${JSON.stringify({ ...told, folder: identityAt(dataDir) }, null, 2)}\n`)
}

export const hasDaemonFile = (dataDir: string): boolean => existsSync(daemonFile(dataDir))

/** Whether it names a process that lives: half a file, or a dead one's, names none. */
export function namesLivingDaemon(dataDir: string): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(daemonFile(dataDir), 'utf8')) as Partial<DaemonFile>
    return typeof pid === 'number' && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    // It lives, as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export function removeDaemonFile(dataDir: string): void {
  rmSync(daemonFile(dataDir), { force: true })
}

/** The bearer token of this data folder; made on first use. */
export function readToken(dataDir: string): string {
  const path = join(dataDir, 'token')
  if (existsSync(path)) {
    chmodSync(path, 0o600)
    const token = readFileSync(path, 'utf8').trim()
    if (token !== '') return token
  }
  const token = randomBytes(32).toString('base64url')
  writePrivately(path, `${token}\n`)
  return token
}

export function writePrivately(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`
  try {
    writeFileSync(beside, text, { mode: 0o600 })
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw error
  }
}
