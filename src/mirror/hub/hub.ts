import { randomBytes } from 'node:crypto'
import type { Mirror } from '../open.ts'
import { asking, counting, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
import type { Root } from '../../model/change.ts'
import type { ChatId } from '../../model/ids.ts'
import { isListedOnly, nextRevision } from '../write/chat-columns.ts'

// What the mirror notes of a hub: of the rows of other machines that were seen, and of its own side.

export interface LedgerRow {
  /** The uuid of a mirror. */
  readonly machine: string
  readonly chat: string
  /** The name of its project at the hub. */
  readonly project: string
  readonly sequence: number
  /**
   * What became of a row of the hub. `shown`: its copy is in the mirror, unless this machine has the chat too. `other`: not
   * this copy. `damaged`: it cannot be read. `wanted`: it has to be fetched again.
   */
  readonly state: 'shown' | 'other' | 'damaged' | 'wanted'
  /** Epoch milliseconds. Null if the object cannot be read. */
  readonly activity: number | null
  readonly messages: number | null
}

/** Which row of the hub was seen. Its sequence is -1 if it has to be fetched again. */
export type SeenRow = Pick<LedgerRow, 'machine' | 'chat' | 'project' | 'sequence'>

const addRow = writing<[LedgerRow]>(`
insert into hub_ledger (machine, chat, project, sequence, state, activity, messages)
values (@machine, @chat, @project, @sequence, @state, @activity, @messages)
`)
const dropRow = findingValue<[machine: string, chat: string], LedgerRow['state']>(
  `delete from hub_ledger where machine = ? and chat = ? returning state`,
)

/** @returns whether its copy was shown before */
export function saveLedger(db: Mirror, row: LedgerRow): boolean {
  const wasShown = dropLedger(db, row.machine, row.chat)
  addRow(db, row)
  return wasShown
}
/** @returns whether its copy was shown */
export const dropLedger = (db: Mirror, machine: string, chat: string): boolean => dropRow(db, machine, chat) === 'shown'
export const listLedger = listing<[], SeenRow>(`select machine, chat, project, sequence from hub_ledger`)

/** How many rows of each machine cannot be read. */
export const countDamaged = listing<[], { machine: string; chats: number }>(`
select machine, count(*) as chats from hub_ledger where state = 'damaged' group by machine order by machine
`)

const BEST_OF = (states: string): string => `
select machine from hub_ledger where chat = @chat and state in (${states})
order by activity desc, messages desc, machine desc limit 1
`

/**
 * Shows the copy of this machine if it is the best: later activity wins, then more messages, then the greater uuid.
 * @returns 0 if it is not
 */
export const showIfBest = writing<[Pick<LedgerRow, 'machine' | 'chat'>]>(`
update hub_ledger set state = iif(machine = @machine, 'shown', 'other')
where chat = @chat and (machine = @machine or state = 'shown') and @machine = (${BEST_OF(`'shown', 'other'`)})
`)
/** Makes the next pull fetch the best copy that is not shown. @returns 0 if there is none */
export const wantBest = writing<[Pick<LedgerRow, 'chat'>]>(`
update hub_ledger set state = 'wanted', sequence = -1 where chat = @chat and machine = (${BEST_OF(`'other'`)})
`)
/** Chats of excluded projects were left out of the mirror. */
export const wantUnmirrored = writing(`
update hub_ledger set state = 'wanted', sequence = -1 where state = 'shown' and chat not in (select id from chats)
`)

/** The other machines that have one of these chats at the hub: as `user/name`, or by uuid. @param chats their ids as JSON */
export const listHolders = listingValues<[chats: string], string>(`
select distinct coalesce(machines.user || '/' || machines.name, hub_ledger.machine)
from json_each(?) wanted join hub_ledger on hub_ledger.chat = wanted.value
  left join machines on machines.uuid = hub_ledger.machine
order by 1
`)

/** A machine that chats were pulled from. */
export interface MachineName {
  /** The uuid of its mirror. It stays when the machine gets another name. */
  readonly uuid: string
  /** Its label. Two machines of different users may have the same one. */
  readonly name: string
  /** The database role that owns it. */
  readonly user: string
}

const saveMachine = writing<[MachineName]>(`
insert into machines (uuid, name, user) values (@uuid, @name, @user)
on conflict (uuid) do update set name = excluded.name, user = excluded.user
where name <> excluded.name or user <> excluded.user
`)
const GIVE_CHAT = `update chats set machine = (select id from machines where uuid = ?), revision = ? where id = ?`

/** Gives a chat to a machine, which is added if it is new, in the transaction that writes the chat. */
export function giveChat(db: Mirror, id: ChatId, machine: MachineName): void {
  saveMachine(db, machine)
  prepared(db, GIVE_CHAT).run(machine.uuid, nextRevision(db), id)
}

/** Whether the mirror has this chat from another place than this machine of the hub. */
export const isOfOther = asking<[chat: string, machine: string]>(`
select 1 from chats left join machines on machines.id = chats.machine where chats.id = ? and machines.uuid is not ?
`)

/** Removes a machine that no chat refers to. */
export const dropUnusedMachine = writing<[{ readonly id: number }]>(
  `delete from machines where id = @id and not exists (select 1 from chats where machine = @id)`,
)

/**
 * `words`: '1' if words of dropped copies are left. `pushed`, `pulled`: when it was last done, epoch milliseconds.
 * `machine`, `former`, `number`: see `PushingMachine`.
 */
type StateKey = 'words' | 'pushed' | 'pulled' | 'machine' | 'former' | 'number'

export const readState = findingValue<[key: StateKey], string>(`select value from hub_state where key = ?`)
export const writeState = writing<[key: StateKey, value: string]>(
  `insert into hub_state (key, value) values (?, ?) on conflict do update set value = excluded.value`,
)

/** This mirror at the hub. */
export interface PushingMachine {
  /** The mirror's identity, or a new one since it was copied or put back. */
  readonly uuid: string
  /** The machine that it was before. Null if it was none. */
  readonly former: string | null
  /** The number of its last push. Each push has a larger one. */
  readonly number: number
}

const readIdentity = findingValue<[], string>(`select id from identity`)

export const readMachine = (db: Mirror): PushingMachine => ({
  uuid: readState(db, 'machine') ?? String(readIdentity(db)),
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

export type LocalProject = Pick<Root, 'uri' | 'path' | 'name'>

/** The projects of this machine that have no name at the hub yet. Those that were made for pulled chats need none. */
export const listUnnamed = listing<[], LocalProject>(`
select uri, path, name from projects
where uri not like 'cursordex%' and uri not in (select uri from hub_names) order by uri
`)

/** A name is given once: a project keeps it. */
export const nameProject = writing<[uri: string, name: string]>(
  `insert into hub_names (uri, name) values (?, ?) on conflict do nothing`,
)

/** A project as JSON, as a `Root`. */
export const ROOT = `json_object('uri', projects.uri, 'path', projects.path, 'name', projects.name, 'remote',
  json(iif(remote_kind is null, null, json_object('kind', remote_kind, 'host', coalesce(remote_host, '')))))`
/** A chat of a project into which others were merged, unless what decides names this project itself. */
const IS_MERGED = `
c.project in (select belongs_to from projects where belongs_how = 'merged') and not exists (
  select 1 from evidence where chat_id = c.id and method = c.project_source and project = c.project
)`

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

const listRooted = listing<[], PushableChat & { readonly rootJson: string }>(`
select c.num, c.id, c.revision, c.project_source as method,
  c.worktree is not null or c.project_source = 'folder-name' or ${IS_MERGED} as isFound, iif(projects.num is null, 'null', ${ROOT}) as rootJson,
  hub_names.name as hubName
from chats c left join projects on projects.num = c.project left join hub_names on hub_names.uri = projects.uri
where c.machine is null and not ${isListedOnly('c')}
order by c.num
`)

/** All chats of this machine. Pulled chats are not pushed on. */
export const listPushable = (db: Mirror): readonly PushableChat[] =>
  listRooted(db).map(({ rootJson, ...chat }) => ({ ...chat, root: JSON.parse(rootJson) as Root | null }))

/** How many of these messages an object of the chat would have. @param ids as JSON */
export const countMessages = counting<[chat: number, ids: string]>(`
select count(*) from messages
where chat = ? and is_orphan <> 2 and id in (select value from json_each(?))
`)

export interface QueuedPurge {
  readonly num: number
  readonly chat: string
  /** '': the whole chat. Null: only its row is removed. */
  readonly message: string | null
}

const isPushed = asking(`select 1 from hub_state where key in ('number', 'pushed') limit 1`)
const addPurge = writing<[chat: string, message: string | null]>(`insert into hub_purges (chat, message) values (?, ?)`)

/** Notes a purge for the hub, in the transaction of the purge. Does nothing if this mirror never pushed. */
export function queuePurge(db: Mirror, chat: string, message: string | null): void {
  if (isPushed(db)) addPurge(db, chat, message)
}

export const listQueue = listing<[], QueuedPurge>(`select num, chat, message from hub_purges order by num`)
export const clearQueue = writing<[upTo: number]>(`delete from hub_purges where num <= ?`)

const findRoot = findingValue<[name: string], string>(
  `select ${ROOT} from hub_names join projects using (uri) where hub_names.name = ? order by uri limit 1`,
)

/** The project of this machine that has this name at the hub. */
export const localRootOf = (db: Mirror, name: string): Root | null =>
  JSON.parse(findRoot(db, name) ?? 'null') as Root | null
