import { randomBytes } from 'node:crypto'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { Root } from '../../model/change.ts'
import { isListedOnly } from '../write/chat-columns.ts'

const READ_STATE = `select value from hub_state where key = ?`
const WRITE_STATE = `insert into hub_state (key, value) values (?, ?) on conflict do update set value = excluded.value`

/**
 * `words`: '1' if words of dropped copies are left. `pushed`, `pulled`: when it was last done, epoch milliseconds.
 * `machine`, `former`, `number`: see `PushingMachine`.
 */
type StateKey = 'words' | 'pushed' | 'pulled' | 'machine' | 'former' | 'number'

export const readState = (db: Mirror, key: StateKey): string | null =>
  prepared<string>(db, READ_STATE).pluck().get(key) ?? null
export const writeState = (db: Mirror, key: StateKey, value: string): void =>
  void prepared(db, WRITE_STATE).run(key, value)

/** This mirror at the hub. */
export interface PushingMachine {
  /** The mirror's identity, or a new one since it was copied or put back. */
  readonly uuid: string
  /** The machine that it was before. Null if it was none. */
  readonly former: string | null
  /** The number of its last push. Each push has a larger one. */
  readonly number: number
}

const IDENTITY = `select id from identity`

export const readMachine = (db: Mirror): PushingMachine => ({
  uuid: readState(db, 'machine') ?? String(prepared(db, IDENTITY).pluck().get()),
  former: readState(db, 'former'),
  number: Number(readState(db, 'number') ?? 0),
})

/**
 * Notes the number of a push. It must be on the disk before the push sends it. If the hub knows a later push of this
 * machine, that came from a copy of this mirror, or this mirror was put back: it goes on as a new machine.
 * @param lastPush what the hub knows
 */
export function beginPush(db: Mirror, lastPush: number, nowMs: number): void {
  const { uuid, number } = readMachine(db)
  if (lastPush > number) {
    writeState(db, 'former', uuid)
    writeState(db, 'machine', randomBytes(16).toString('hex'))
  }
  writeState(db, 'number', String(Math.max(nowMs, number + 1)))
}

const LIST_UNNAMED = `
select uri, path, name from projects
where uri not like 'cursordex%' and uri not in (select uri from hub_names) order by uri
`
const ADD_NAME = `insert into hub_names (uri, name) values (?, ?) on conflict do nothing`

export type LocalProject = Pick<Root, 'uri' | 'path' | 'name'>

/** The projects of this machine that have no name at the hub yet. Those that were made for pulled chats need none. */
export const listUnnamed = (db: Mirror): readonly LocalProject[] => prepared<LocalProject>(db, LIST_UNNAMED).all()

/** A name is given once: a project keeps it. */
export const nameProject = (db: Mirror, uri: string, name: string): void => void prepared(db, ADD_NAME).run(uri, name)

/** A project as JSON, as a `Root`. */
export const ROOT = `json_object('uri', projects.uri, 'path', projects.path, 'name', projects.name, 'remote',
  json(iif(remote_kind is null, null, json_object('kind', remote_kind, 'host', coalesce(remote_host, '')))))`
/** A chat of a project into which others were merged, unless what decides names this project itself. */
const IS_MERGED = `
c.project in (select belongs_to from projects where belongs_how = 'merged') and not exists (
  select 1 from evidence where chat_id = c.id and method = c.project_source and project = c.project
)`
const LIST_PUSHABLE = `
select c.num, c.id, c.revision, c.project_source as method,
  c.worktree is not null or c.project_source = 'folder-name' or ${IS_MERGED} as isFound, iif(projects.num is null, 'null', ${ROOT}) as rootJson,
  hub_names.name as hubName
from chats c left join projects on projects.num = c.project left join hub_names on hub_names.uri = projects.uri
where c.machine is null and not ${isListedOnly('c')}
order by c.num
`

export interface PushableChat {
  readonly num: number
  readonly id: string
  readonly revision: number
  /** 1 if its project is that of its working tree's repository, has the name of its transcripts' folder, or was merged. */
  readonly isFound: 0 | 1
  /** How its project was found. Null, like the next two, if it has none. */
  readonly method: string | null
  readonly root: Root | null
  /** The name of its project at the hub. Null too if it was not given yet. */
  readonly hubName: string | null
}

/** All chats of this machine. Pulled chats are not pushed on. */
export const listPushable = (db: Mirror): readonly PushableChat[] =>
  prepared<PushableChat & { readonly rootJson: string }>(db, LIST_PUSHABLE)
    .all()
    .map(({ rootJson, ...chat }) => ({ ...chat, root: JSON.parse(rootJson) as Root | null }))

const COUNT_MESSAGES = `
select count(*) from messages
where chat = ? and is_orphan <> 2 and id in (select value from json_each(?))
`

/** How many of these messages an object of the chat would have. */
export const countMessages = (db: Mirror, chat: number, ids: readonly string[]): number =>
  prepared<number>(db, COUNT_MESSAGES).pluck().get(chat, JSON.stringify(ids)) ?? 0

export interface QueuedPurge {
  readonly num: number
  readonly chat: string
  /** '': the whole chat. Null: only its row is removed. */
  readonly message: string | null
}

const IS_PUSHED = `select 1 from hub_state where key in ('number', 'pushed') limit 1`
const QUEUE = `insert into hub_purges (chat, message) values (?, ?)`
const LIST_QUEUE = `select num, chat, message from hub_purges order by num`
const CLEAR_QUEUE = `delete from hub_purges where num <= ?`

/** Notes a purge for the hub, in the transaction of the purge. Does nothing if this mirror never pushed. */
export function queuePurge(db: Mirror, chat: string, message: string | null): void {
  if (prepared(db, IS_PUSHED).get() !== undefined) prepared(db, QUEUE).run(chat, message)
}

export const listQueue = (db: Mirror): readonly QueuedPurge[] => prepared<QueuedPurge>(db, LIST_QUEUE).all()
export const clearQueue = (db: Mirror, upTo: number): void => void prepared(db, CLEAR_QUEUE).run(upTo)

const FIND_ROOT = `select ${ROOT} from hub_names join projects using (uri) where hub_names.name = ? order by uri limit 1`

/** The project of this machine that has this name at the hub. */
export const localRootOf = (db: Mirror, name: string): Root | null =>
  JSON.parse(prepared<string>(db, FIND_ROOT).pluck().get(name) ?? 'null') as Root | null
