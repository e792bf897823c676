import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { nextRevision } from '../write/chat-columns.ts'

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

const SAVE = `
insert into hub_ledger (machine, chat, project, sequence, state, activity, messages)
values (@machine, @chat, @project, @sequence, @state, @activity, @messages)
`
const DROP = `delete from hub_ledger where machine = ? and chat = ? returning state`
const LIST = `select machine, chat, project, sequence from hub_ledger`

/** @returns whether its copy was shown before */
export function saveLedger(db: Mirror, row: LedgerRow): boolean {
  const wasShown = dropLedger(db, row.machine, row.chat)
  prepared(db, SAVE).run(row)
  return wasShown
}
/** @returns whether its copy was shown */
export const dropLedger = (db: Mirror, machine: string, chat: string): boolean =>
  prepared<string>(db, DROP).pluck().get(machine, chat) === 'shown'
export const listLedger = (db: Mirror): readonly SeenRow[] => prepared<SeenRow>(db, LIST).all()

const COUNT_DAMAGED = `
select machine, count(*) as chats from hub_ledger where state = 'damaged' group by machine order by machine
`
/** How many rows of each machine cannot be read. */
export const countDamaged = (db: Mirror): { machine: string; chats: number }[] =>
  prepared<{ machine: string; chats: number }>(db, COUNT_DAMAGED).all()

const BEST_OF = (states: string): string => `
select machine from hub_ledger where chat = @chat and state in (${states})
order by activity desc, messages desc, machine desc limit 1
`
const SHOW_IF_BEST = `
update hub_ledger set state = iif(machine = @machine, 'shown', 'other')
where chat = @chat and (machine = @machine or state = 'shown') and @machine = (${BEST_OF(`'shown', 'other'`)})
`
const WANT_BEST = `
update hub_ledger set state = 'wanted', sequence = -1 where chat = @chat and machine = (${BEST_OF(`'other'`)})
`
const WANT_UNMIRRORED = `
update hub_ledger set state = 'wanted', sequence = -1 where state = 'shown' and chat not in (select id from chats)
`

/** Shows the copy of this machine if it is the best: later activity wins, then more messages, then the greater uuid. */
export const showIfBest = (db: Mirror, machine: string, chat: string): boolean =>
  prepared(db, SHOW_IF_BEST).run({ machine, chat }).changes > 0
/** Makes the next pull fetch the best copy that is not shown. @returns false if there is none */
export const wantBest = (db: Mirror, chat: string): boolean => prepared(db, WANT_BEST).run({ chat }).changes > 0
/** Chats of excluded projects were left out of the mirror. */
export const wantUnmirrored = (db: Mirror): void => void prepared(db, WANT_UNMIRRORED).run()

const LIST_HOLDERS = `
select distinct coalesce(machines.user || '/' || machines.name, hub_ledger.machine)
from json_each(?) wanted join hub_ledger on hub_ledger.chat = wanted.value
  left join machines on machines.uuid = hub_ledger.machine
order by 1
`

/** The other machines that have one of these chats at the hub: as `user/name`, or by uuid. */
export const listHolders = (db: Mirror, chats: readonly string[]): readonly string[] =>
  prepared<string>(db, LIST_HOLDERS).pluck().all(JSON.stringify(chats))

/** A machine that chats were pulled from. */
export interface MachineName {
  /** The uuid of its mirror. It stays when the machine gets another name. */
  readonly uuid: string
  /** Its label. Two machines of different users may have the same one. */
  readonly name: string
  /** The database role that owns it. */
  readonly user: string
}

const SAVE_MACHINE = `
insert into machines (uuid, name, user) values (@uuid, @name, @user)
on conflict (uuid) do update set name = excluded.name, user = excluded.user
where name <> excluded.name or user <> excluded.user
`
const GIVE_CHAT = `update chats set machine = (select id from machines where uuid = ?), revision = ? where id = ?`

/** Gives a chat to a machine, which is added if it is new, in the transaction that writes the chat. */
export function giveChat(db: Mirror, id: ChatId, machine: MachineName): void {
  prepared(db, SAVE_MACHINE).run(machine)
  prepared(db, GIVE_CHAT).run(machine.uuid, nextRevision(db), id)
}

const OF_OTHER = `
select 1 from chats left join machines on machines.id = chats.machine where chats.id = ? and machines.uuid is not ?
`

/** Whether the mirror has this chat from another place than this machine of the hub. */
export const isOfOther = (db: Mirror, chat: string, machine: string): boolean =>
  prepared(db, OF_OTHER).get(chat, machine) !== undefined

const DROP_UNUSED = `delete from machines where id = @id and not exists (select 1 from chats where machine = @id)`

/** Removes a machine that no chat refers to. */
export const dropUnusedMachine = (db: Mirror, id: number): void => void prepared(db, DROP_UNUSED).run({ id })
