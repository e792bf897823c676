import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { Root } from '../write/batch.ts'

/** How many values of earlier pushes are kept: a hub that was restored from a backup has one of these. */
const VALUES_MAX = 1000

const LIST_VALUES = `select value from hub_values order by num desc`
const ADD_VALUE = `insert into hub_values (value) values (?)`
const TRIM_VALUES = `delete from hub_values where num <= (select max(num) from hub_values) - ${VALUES_MAX}`

/** The values of this mirror's latest pushes, the last one first. */
export const listValues = (db: Mirror): readonly string[] => prepared<string>(db, LIST_VALUES).pluck().all()

/** Notes the value of a push. It must be on the disk before the push sends it. */
export function addValue(db: Mirror, value: string): void {
  prepared(db, ADD_VALUE).run(value)
  prepared(db, TRIM_VALUES).run()
}

const LIST_PROJECTS = `
select uri, path, projects.name, hub_names.name as hubName
from projects left join hub_names using (uri)
where uri not like 'cursordex%' or hub_names.name is not null
order by uri
`
const ADD_NAME = `insert into hub_names (uri, name) values (?, ?) on conflict do nothing`
const RENAME = `update hub_names set name = @name where name = @former`

export interface LocalProject {
  readonly uri: string
  readonly path: string
  readonly name: string
  /** Null if it has no name at the hub yet. */
  readonly hubName: string | null
}

/** The projects of this machine, without those that were made for pulled chats. */
export const listLocalProjects = (db: Mirror): readonly LocalProject[] =>
  prepared<LocalProject>(db, LIST_PROJECTS).all()

/** A name is given once: a project keeps it. */
export const nameProject = (db: Mirror, uri: string, name: string): void => void prepared(db, ADD_NAME).run(uri, name)

/** @returns how many projects had the former name */
export const renameProjects = (db: Mirror, former: string, name: string): number =>
  prepared(db, RENAME).run({ former, name }).changes

const LIST_PUSHABLE = `
select c.num, c.id, c.revision, c.last_activity_at as activityMs, c.project_source as method,
  p.uri, p.path, p.name, p.remote_kind as remoteKind, p.remote_host as remoteHost, n.name as hubName
from chats c left join projects p on p.num = c.project left join hub_names n on n.uri = p.uri
where c.machine is null
order by c.num
`

export interface PushableChat {
  readonly num: number
  readonly id: string
  readonly revision: number
  /** Epoch milliseconds; null if unknown. */
  readonly activityMs: number | null
  /** Its project. All of these are null if it has none. */
  readonly method: string | null
  readonly uri: string | null
  readonly path: string | null
  readonly name: string | null
  readonly remoteKind: string | null
  readonly remoteHost: string | null
  /** The name of its project at the hub. */
  readonly hubName: string | null
}

/** All chats of this machine. Pulled chats are not pushed on. */
export const listPushable = (db: Mirror): readonly PushableChat[] => prepared<PushableChat>(db, LIST_PUSHABLE).all()

export interface QueuedPurge {
  readonly num: number
  readonly chat: string
  /** '': the whole chat. Null: only its row is removed. */
  readonly message: string | null
}

const IS_PUSHED = `select 1 from hub_values limit 1`
const QUEUE = `insert into hub_purges (chat, message) values (?, ?)`
const LIST_QUEUE = `select num, chat, message from hub_purges order by num`
const CLEAR_QUEUE = `delete from hub_purges where num <= ?`

/** Notes a purge for the hub, in the transaction of the purge. Does nothing if this mirror never pushed. */
export function queuePurge(db: Mirror, chat: string, message: string | null): void {
  if (prepared(db, IS_PUSHED).get() !== undefined) prepared(db, QUEUE).run(chat, message)
}

export const listQueue = (db: Mirror): readonly QueuedPurge[] => prepared<QueuedPurge>(db, LIST_QUEUE).all()
export const clearQueue = (db: Mirror, upTo: number): void => void prepared(db, CLEAR_QUEUE).run(upTo)

const READ_STATE = `select value from hub_state where key = ?`
const WRITE_STATE = `insert into hub_state (key, value) values (?, ?) on conflict do update set value = excluded.value`

/**
 * `hub`: the uuid of the hub that the ledger belongs to. `format`: the newest version of objects that was readable. `words`: '1' if words of dropped copies are left. `pushed`, `pulled`: when it was last done, epoch milliseconds.
 */
type StateKey = 'hub' | 'format' | 'words' | 'pushed' | 'pulled'

export const readState = (db: Mirror, key: StateKey): string | null =>
  prepared<string>(db, READ_STATE).pluck().get(key) ?? null
export const writeState = (db: Mirror, key: StateKey, value: string): void =>
  void prepared(db, WRITE_STATE).run(key, value)

const FIND_ROOT = `
select projects.uri, path, projects.name, remote_kind as remoteKind, remote_host as remoteHost
from hub_names join projects using (uri) where hub_names.name = ? order by uri limit 1
`

/** The project of this machine that has this name at the hub. */
export function localRootOf(db: Mirror, name: string): Root | null {
  const row = prepared<Omit<Root, 'remote'> & { remoteKind: string | null; remoteHost: string | null }>(
    db,
    FIND_ROOT,
  ).get(name)
  if (row === undefined) return null
  const { remoteKind, remoteHost, ...root } = row
  return { ...root, remote: remoteKind === null ? null : { kind: remoteKind, host: remoteHost ?? '' } }
}
