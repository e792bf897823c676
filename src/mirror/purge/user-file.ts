import { hash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import Database from '../../sqlite.ts'
import { isDamage } from '../damage/find-damage.ts'
import type { Mirror } from '../open.ts'

/** What only the user said, in a file of its own beside the mirror: it outlives every mirror. */
export const USER_FILE = 'user.db'

const TABLES = `
-- What purges keep out, by keyed hashes: a chat, a message of a chat, a text in a chat. size: of a text, its characters.
create table user.bars (kind text not null, hash text not null, size integer, primary key (kind, hash)) strict, without rowid;
-- The keys of the hashes of ids (kind 'id') and of texts (kind 'text'). Only the latest of a kind makes new hashes.
create table user.keys (num integer primary key, kind text not null, key text not null, unique (kind, key)) strict;
-- How many bars are lost, and the user went on without them.
create table user.lost (bars integer not null) strict;
insert into user.lost values (0);
pragma user.user_version = 1;
`

/**
 * Attaches the user's file to a connection as `user`, and makes it if it is missing. One that cannot be read is renamed:
 * then its bars are missing, as those of a file that was deleted.
 */
export function attachUser(db: Mirror, mirrorPath: string): void {
  const file = join(dirname(mirrorPath), USER_FILE)
  if (existsSync(file) && !isReadable(file)) renameSync(file, `${file}.damaged`)
  closeSync(openSync(file, 'a', 0o600))
  attach(db, file)
}

function isReadable(file: string): boolean {
  const db = new Database(file)
  try {
    return db.pragma('quick_check', { simple: true }) === 'ok'
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  } finally {
    db.close()
  }
}

function attach(db: Mirror, file: string): void {
  db.prepare('attach ? as user').run(file)
  if (db.pragma('user.user_version', { simple: true }) === 0) db.transaction(() => db.exec(TABLES))()
}

/** A connection that has the bars only, for who reads. */
export function openBars(mirrorPath: string): Mirror {
  const db = new Database(':memory:')
  const file = join(dirname(mirrorPath), USER_FILE)
  attach(db, existsSync(file) ? file : ':memory:')
  return db
}

const COUNT = `select count(*) + (select bars from user.lost) from user.bars`

/** How many bars there are, with those that were given up. This number only grows. */
export const countBars = (db: Mirror): number => db.prepare<[], number>(COUNT).pluck().get() ?? 0

/** Several machines may use one archive folder. */
const homeOf = (mirrorPath: string): string => hash('sha256', `${hostname()}\0${dirname(mirrorPath)}`)

const PACK = `
create table main.bars as select kind, hash from user.bars where kind <> 'text';
create table main.keys as select kind, key from user.keys where kind = 'id' order by num;
`

/**
 * The bars as a file that goes with an archive; null if there are none. Texts and their keys are left out: with both,
 * whoever has the archive could try which texts were purged.
 */
export function packBars(mirrorPath: string): Buffer | null {
  const db = openBars(mirrorPath)
  try {
    if (countBars(db) === 0) return null
    db.exec(`${PACK} create table main.known as select (${COUNT}) as bars, '${homeOf(mirrorPath)}' as home;`)
    return db.serialize()
  } finally {
    db.close()
  }
}

const READ_KNOWN = `select bars from packed.known where home = ?`
const TAKE = `
insert or ignore into user.bars (kind, hash) select kind, hash from packed.bars;
insert or ignore into user.keys (kind, key) select kind, key from packed.keys;
`

/**
 * Takes from the bars beside an archive what is missing.
 * @returns how many there were when the archive was made; 0 if another machine or data folder wrote them
 */
export function takePacked(db: Mirror, file: string): number {
  // If the archives are in the data folder, it is the user's own file.
  if (file === join(dirname(db.name), USER_FILE) || !existsSync(file) || !isReadable(file)) return 0
  try {
    db.prepare('attach ? as packed').run(file)
  } catch {
    // A folder of that name, for example.
    return 0
  }
  try {
    const known = packedBars(db)
    if (known > countBars(db)) db.transaction(() => db.exec(TAKE))()
    return known
  } finally {
    db.exec('detach packed')
  }
}

function packedBars(db: Mirror): number {
  try {
    return db.prepare<[string], number>(READ_KNOWN).pluck().get(homeOf(db.name)) ?? 0
  } catch {
    // Another program's file, or an empty one: it has no bars.
    return 0
  }
}

const HAS_OLD = `select 1 from sqlite_schema where name = 'tombstones'`
const LIST_OLD = `select kind, hash, size from tombstones`
const LIST_SALTS = `select salt from purge_salt`
const ADD_BAR = `insert or ignore into user.bars (kind, hash, size) values (@kind, @hash, @size)`
const ADD_KEY = `insert or ignore into user.keys (kind, key) values (?, ?)`

/**
 * Takes over what an older version kept in the mirror, and the key that it kept in a file. The hashes are made alike, so
 * they hold on. @param from the mirror, or a damaged one
 */
export function takeTombstones(db: Mirror, from: Mirror, mirrorPath: string): void {
  if (from.prepare(HAS_OLD).get() === undefined) return
  const keyFile = join(dirname(mirrorPath), 'purge.key')
  db.transaction(() => {
    for (const row of from.prepare<[], object>(LIST_OLD).all()) db.prepare(ADD_BAR).run(row)
    for (const salt of from.prepare<[], string>(LIST_SALTS).pluck().all()) db.prepare(ADD_KEY).run('id', salt)
    if (existsSync(keyFile)) db.prepare(ADD_KEY).run('text', readFileSync(keyFile, 'utf8').trim())
  })()
  rmSync(keyFile, { force: true })
}
