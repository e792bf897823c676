import type { Mirror } from '../mirror/open.ts'
import { listValues } from '../mirror/hub/own-side.ts'
import { UserError } from '../model/user-error.ts'
import type { Hub } from './client.ts'

export interface OwnMachine {
  /** The uuid of this mirror. */
  readonly uuid: string
  readonly label: string
  /** The random value of this push. The mirror has noted it already. */
  readonly value: string
}

const REGISTER = `
insert into cursordex.machines (uuid, label) values ($1, $2) on conflict do nothing
`
const LOCK = `
select owner::text, label, value, counter::float8 as counter,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now, current_user::text as role
from cursordex.machines where uuid = $1 for update
`
const HOLDER = `select uuid from cursordex.machines where owner = current_user and label = $1`
const COUNT = `
update cursordex.machines set value = $2, counter = $3, label = $4, pushed_at = clock_timestamp() where uuid = $1
`

/**
 * Runs a batch of this machine in one transaction: its row is locked, so there is one writer a machine, and no number of
 * the batch appears after a larger one. `act` gets the machine's counter and returns the new one.
 * @throws UserError `hub-copied-mirror`, `hub-label-taken`
 */
export const asOwnMachine = <Result>(
  hub: Hub,
  db: Mirror,
  own: OwnMachine,
  act: (counter: number) => Promise<{ readonly counter: number; readonly result: Result }>,
  takesOver = false,
): Promise<Result> =>
  hub.transaction(async () => {
    const found = await lock(hub, own, takesOver)
    if (found.owner !== found.role) throw foreign(own)
    const isKnown = found.value === null || found.value === own.value || listValues(db).includes(found.value)
    if (!isKnown && !takesOver) throw copied(found.label)
    // A hub that was restored from a backup has an older counter, and readers have seen larger numbers. Its clock is ahead.
    const { counter, result } = await act(Math.max(found.counter, Math.floor(found.now)))
    await named(own, () => mustChange(hub, 1, COUNT, [own.uuid, own.value, counter, own.label]))
    return result
  })

interface Found {
  readonly owner: string
  readonly label: string
  readonly value: string | null
  readonly counter: number
  readonly now: number
  readonly role: string
}

async function lock(hub: Hub, own: OwnMachine, takesOver: boolean): Promise<Found> {
  const [known] = await hub.rows<Found>(LOCK, [own.uuid])
  if (known !== undefined) return known
  // The label is free once the other machine is gone.
  await hub.change(REGISTER, [own.uuid, takesOver ? own.uuid : own.label])
  const [made] = await hub.rows<Found>(LOCK, [own.uuid])
  if (made !== undefined) return made
  const [holder] = await hub.rows<{ uuid: string }>(HOLDER, [own.label])
  throw holder === undefined ? foreign(own) : taken(own, holder.uuid)
}

async function named(own: OwnMachine, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === '23505' ? taken(own, 'another mirror') : error
  }
}

/**
 * Changes rows, and insists on their number: row-level security hides rows in silence.
 * @throws UserError `hub-rows-hidden`
 */
export async function mustChange(hub: Hub, count: number, sql: string, values: readonly unknown[]): Promise<void> {
  const changed = await hub.change(sql, values)
  if (changed === count) return
  throw new UserError(
    'hub-rows-hidden',
    `The hub changed ${changed} rows instead of ${count}.`,
    'Ask its owner whether this role still owns the machine.',
  )
}

const foreign = ({ label }: OwnMachine): UserError =>
  new UserError(
    'hub-foreign-machine',
    `At the hub, this mirror (${label}) belongs to another role.`,
    'Push as the role that pushed before.',
  )

const copied = (label: string): UserError =>
  new UserError(
    'hub-copied-mirror',
    `The machine ${label} was pushed from another copy of this mirror.`,
    `On a second machine, start with an empty data folder. If this mirror was put back from a backup: cursordex hub push --takes-over ${label}`,
  )

const taken = ({ label }: OwnMachine, uuid: string): UserError =>
  new UserError(
    'hub-label-taken',
    `The label ${label} belongs to another mirror of this role: ${uuid}.`,
    `Set another hub.machine. If that mirror is lost: cursordex hub push --takes-over ${label}`,
  )
