import { UserError } from '../model/user-error.ts'
import type { Hub } from './client.ts'

/** This mirror as a machine of the hub. */
export interface OwnMachine {
  readonly uuid: string
  readonly label: string
  /** The number of this push. The mirror has noted it already. */
  readonly number: number
  /** The machine that this mirror was before it was copied or put back. */
  readonly former: string | null
}

/** A hub that was restored from a backup has an older counter, and readers have seen larger numbers. Its clock is ahead. */
const LOCK = `
select greatest(counter, floor(extract(epoch from clock_timestamp()) * 1000))::float8 as counter
from cursordex.machines where uuid = $1 and owner = current_user for update
`
/** A mirror that was put back keeps its label, and the machine that it was gets another one. */
const FREE_LABEL = `
update cursordex.machines set label = label || ' ' || left(uuid, 8) where owner = current_user and label = $1
`
const REGISTER = `insert into cursordex.machines (uuid, label) values ($1, $2) on conflict (uuid) do nothing`
const COUNT = `
update cursordex.machines set value = $2, counter = $3, label = $4, pushed_at = clock_timestamp() where uuid = $1
`

/**
 * Runs a batch of this machine in one transaction: its row is locked, so there is one writer a machine, and no number of
 * the batch appears after a larger one.
 * @param act gets the machine's counter, and returns by how much it grows
 * @throws UserError `hub-foreign-machine`, `hub-label-taken`
 */
export const asOwnMachine = (hub: Hub, own: OwnMachine, act: (counter: number) => Promise<number>): Promise<void> =>
  hub.transaction(async () => {
    const counter = (await lock(hub, own)) ?? (await register(hub, own))
    await hub.change(COUNT, [own.uuid, String(own.number), counter + (await act(counter)), own.label])
  })

const lock = async (hub: Hub, { uuid }: OwnMachine): Promise<number | undefined> =>
  (await hub.rows<{ counter: number }>(LOCK, [uuid]))[0]?.counter

async function register(hub: Hub, own: OwnMachine): Promise<number> {
  if (own.former !== null) await hub.change(FREE_LABEL, [own.label])
  await hub.change(REGISTER, [own.uuid, own.label])
  const counter = await lock(hub, own)
  if (counter !== undefined) return counter
  throw new UserError(
    'hub-foreign-machine',
    `At the hub, this mirror (${own.label}) belongs to another role.`,
    'Push as the role that pushed before.',
  )
}
