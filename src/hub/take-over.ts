import { hash as digest } from 'node:crypto'
import type { Mirror } from '../mirror/open.ts'
import type { KnownPurge } from '../mirror/purge/purged-elsewhere.ts'
import { UserError } from '../model/user-error.ts'
import type { Hub } from './client.ts'
import { asOwnMachine, type OwnMachine } from './own-machine.ts'

/** What a lost mirror left at the hub. Its objects lie in the spool folder. */
export interface Legacy {
  /** The uuid of the lost mirror. */
  readonly machine: string
  readonly rows: readonly { readonly chat: string; readonly project: string; readonly object: string }[]
  readonly purged: readonly KnownPurge[]
}

interface Progress {
  readonly done: number
  readonly total: number
}

const FIND = `select uuid from cursordex.machines where owner = current_user and (uuid = $1 or label = $1)`
const LIST = `select chat from cursordex.chats where machine = $1 order by sequence`
const FETCH = `select chat, project, object from cursordex.chats where machine = $1 and chat = any ($2::text[])`
const PURGED = `select chat, message from cursordex.purged where machine = $1`
const FETCH_ROWS = 20

/** Downloads all rows of a machine of this role. @throws UserError `hub-no-machine` */
export async function* readLegacy(
  hub: Hub,
  { machine, save }: { readonly machine: string; readonly save: (name: string, object: Buffer) => void },
): AsyncGenerator<Progress, Legacy> {
  const [found] = await hub.rows<{ uuid: string }>(FIND, [machine])
  if (found === undefined) {
    throw new UserError('hub-no-machine', `This role has no machine ${machine} at the hub.`, 'cursordex hub status', {
      exitCode: 2,
    })
  }
  const ids = await hub.rows<{ chat: string }>(LIST, [found.uuid])
  const rows: { chat: string; project: string; object: string }[] = []
  for (let at = 0; at < ids.length; at += FETCH_ROWS) {
    const chats = ids.slice(at, at + FETCH_ROWS).map(({ chat }) => chat)
    const fetched = await hub.rows<{ chat: string; project: string; object: Buffer }>(FETCH, [found.uuid, chats])
    for (const { chat, project, object } of fetched) {
      const name = digest('sha256', object)
      save(name, object)
      rows.push({ chat, project, object: name })
    }
    yield { done: at + chats.length, total: ids.length }
  }
  return { machine: found.uuid, rows, purged: await hub.rows<KnownPurge>(PURGED, [found.uuid]) }
}

/** Each row counts as changed, so that the next push sends it as this mirror has it. */
const OUTDATE = `update cursordex.chats set revision = -1 where machine = $1`
const DROP_DOUBLE = `
delete from cursordex.chats where machine = $2 and chat in (select chat from cursordex.chats where machine = $1)
`
const MOVE = `
update cursordex.chats c set machine = $1, revision = -1, sequence = $3::bigint + numbered.at
from (select chat, row_number() over (order by sequence) as at from cursordex.chats where machine = $2) numbered
where c.machine = $2 and c.chat = numbered.chat
`
const MOVE_PURGED = `
insert into cursordex.purged (machine, chat, message)
select $1, chat, message from cursordex.purged where machine = $2 on conflict do nothing
`
const DROP_PURGED = `delete from cursordex.purged where machine = $1`
const DROP_MACHINE = `delete from cursordex.machines where uuid = $1`

/** Makes the rows of a lost mirror those of this one, in one transaction. This mirror has all of them already. */
export const takeOver = (hub: Hub, db: Mirror, own: OwnMachine, lost: string): Promise<void> =>
  asOwnMachine(
    hub,
    db,
    own,
    async (counter) => {
      await hub.change(OUTDATE, [own.uuid])
      if (lost === own.uuid) return { counter, result: undefined }
      await hub.change(DROP_DOUBLE, [own.uuid, lost])
      const moved = await hub.change(MOVE, [own.uuid, lost, counter])
      await hub.change(MOVE_PURGED, [own.uuid, lost])
      await hub.change(DROP_PURGED, [lost])
      await hub.change(DROP_MACHINE, [lost])
      return { counter: counter + moved, result: undefined }
    },
    true,
  )
