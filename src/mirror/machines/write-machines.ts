import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { nextRevision } from '../write/chat-columns.ts'

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
const FIND_MACHINE = `select id from machines where uuid = ?`
const MACHINE_OF_CHAT = `select machine from chats where id = ?`
const MOVE_CHAT = `update chats set machine = ?, revision = ? where id = ?`
const DROP_UNUSED = `delete from machines where id = @id and not exists (select 1 from chats where machine = @id)`

/**
 * Gives a chat to a machine. The machine is added if it is new, and gets this name and user. Call it in the transaction
 * that writes the chat.
 * @param machine null: the chat is one of this machine
 * @throws Error if there is no such chat
 */
export function giveChat(db: Mirror, id: ChatId, machine: MachineName | null): void {
  const chat = prepared<{ machine: number | null }>(db, MACHINE_OF_CHAT).get(id)
  if (chat === undefined) throw new Error(`there is no chat ${id}`)
  const given = machine === null ? null : saveMachine(db, machine)
  if (given === chat.machine) return
  prepared(db, MOVE_CHAT).run(given, nextRevision(db), id)
  if (chat.machine !== null) dropUnusedMachine(db, chat.machine)
}

/** Removes a machine that no chat refers to. */
export function dropUnusedMachine(db: Mirror, id: number): void {
  prepared(db, DROP_UNUSED).run({ id })
}

function saveMachine(db: Mirror, machine: MachineName): number {
  prepared(db, SAVE_MACHINE).run(machine)
  const row = prepared<{ id: number }>(db, FIND_MACHINE).get(machine.uuid)
  if (row === undefined) throw new Error('an insert left no row')
  return row.id
}
