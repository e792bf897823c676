import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/**
 * What became of a row of the hub. `shown`: its copy is in the mirror. `other`: another machine's copy is shown. `hidden`:
 * the chat is one of this machine. `barred`: it was purged here. `damaged`, `newer`: it cannot be read, or not yet.
 * `wanted`: it has to be fetched again.
 */
export type LedgerState = 'shown' | 'other' | 'hidden' | 'barred' | 'damaged' | 'newer' | 'wanted'

export interface LedgerRow {
  /** The uuid of a mirror. */
  readonly machine: string
  readonly chat: string
  /** The name of its project at the hub. */
  readonly project: string
  readonly sequence: number
  readonly state: LedgerState
  /** Epoch milliseconds. Null if the object was not read. */
  readonly activity: number | null
  readonly messages: number | null
}

const SAVE = `
insert or replace into hub_ledger (machine, chat, project, sequence, state, activity, messages)
values (@machine, @chat, @project, @sequence, @state, @activity, @messages)
`
const DROP = `delete from hub_ledger where machine = ? and chat = ?`
const LIST_PAIRS = `select distinct machine, project from hub_ledger`
const LIST_PAIR = `select chat, sequence from hub_ledger where machine = ? and project = ?`
const LIST_COPIES = `select * from hub_ledger where chat = ?`

export const saveLedger = (db: Mirror, row: LedgerRow): void => void prepared(db, SAVE).run(row)
export const dropLedger = (db: Mirror, machine: string, chat: string): void =>
  void prepared(db, DROP).run(machine, chat)

export type Pair = Pick<LedgerRow, 'machine' | 'project'>

/** The rows that were seen, by machine and project: the sequence of each chat. One that has to be fetched again has none. */
export function readLedger(db: Mirror): readonly (Pair & { readonly rows: ReadonlyMap<string, number> })[] {
  const sequences = prepared<{ chat: string; sequence: number }>(db, LIST_PAIR)
  return prepared<Pair>(db, LIST_PAIRS)
    .all()
    .map(({ machine, project }) => {
      const rows = sequences.all(machine, project).map(({ chat, sequence }) => [chat, sequence] as const)
      return { machine, project, rows: new Map(rows) }
    })
}

/** The rows of a chat from all machines. */
export const listCopies = (db: Mirror, chat: string): readonly LedgerRow[] =>
  prepared<LedgerRow>(db, LIST_COPIES).all(chat)

/** A copy that is shown stays known as shown, so that it goes if its row is gone. */
const WANT_ALL = `update hub_ledger set state = iif(state = 'shown', state, 'wanted'), sequence = -1`
const WANT_UNMIRRORED = `
update hub_ledger set state = 'wanted', sequence = -1 where state = 'shown' and chat not in (select id from chats)
`
const WANT_NEWER = `update hub_ledger set state = 'wanted', sequence = -1 where state = 'newer'`
const SET_STATE = `
update hub_ledger set state = @state, sequence = iif(@state = 'wanted', -1, sequence) where machine = @machine and chat = @chat
`

/** Another hub starts at nothing: nothing that was seen at the former one counts. */
export const wantAll = (db: Mirror): void => void prepared(db, WANT_ALL).run()
/** Chats of excluded projects were left out of the mirror. */
export const wantUnmirrored = (db: Mirror): void => void prepared(db, WANT_UNMIRRORED).run()
/** After an upgrade of the program, rows that were too new may be readable. */
export const wantNewer = (db: Mirror): void => void prepared(db, WANT_NEWER).run()
export const setState = (db: Mirror, { machine, chat }: LedgerRow, state: LedgerState): void =>
  void prepared(db, SET_STATE).run({ machine, chat, state })

const BEST_COPY = `
select * from hub_ledger where chat = ? and state in ('shown', 'other')
order by coalesce(activity, -1) desc, coalesce(messages, -1) desc, machine desc limit 1
`

/** The copy that should be shown: the one with the later activity, then more messages, then the greater uuid. */
export const bestCopy = (db: Mirror, chat: string): LedgerRow | null =>
  prepared<LedgerRow>(db, BEST_COPY).get(chat) ?? null

const LIST_HOLDERS = `
select distinct coalesce(machines.user || '/' || machines.name, hub_ledger.machine)
from json_each(?) wanted join hub_ledger on hub_ledger.chat = wanted.value
  left join machines on machines.uuid = hub_ledger.machine
order by 1
`

/** The other machines that have one of these chats at the hub: as `user/name`, or by uuid. */
export const listHolders = (db: Mirror, chats: readonly string[]): readonly string[] =>
  prepared<string>(db, LIST_HOLDERS).pluck().all(JSON.stringify(chats))
