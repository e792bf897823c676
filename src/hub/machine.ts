import { UserError } from '../model/user-error.ts'
import type { Hub } from './client.ts'

/** This mirror as a machine of the hub. */
export interface OwnMachine {
  readonly uuid: string
  readonly label: string
  /** The number of this push. The mirror has noted it already, so a machine with a larger one is not this mirror alone. */
  readonly number: number
  /** The machine that this mirror was before it was copied or put back. */
  readonly former: string | null
}

const LOCK = `
select owner::text, value, counter::float8 as counter, current_user::text as role,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now
from cursordex.machines where uuid = $1 for update
`
/** A mirror that was put back keeps its label, and the machine that it was gets another one. */
const FREE_LABEL = `
update cursordex.machines set label = label || ' ' || left(uuid, 8) where owner = current_user and label = $1
`
const REGISTER = `insert into cursordex.machines (uuid, label) values ($1, $2) on conflict (uuid) do nothing`
const COUNT = `
update cursordex.machines set value = $2, counter = $3, label = $4, pushed_at = clock_timestamp() where uuid = $1
`

interface Found {
  readonly owner: string
  readonly value: string | null
  readonly counter: number
  readonly role: string
  readonly now: number
}

/** The number of a machine's last push; 0 if it never pushed. Earlier versions wrote random letters. */
export const numberOf = (value: string | null | undefined): number =>
  /^\d{1,15}$/.test(value ?? '') ? Number(value) : 0

/**
 * Runs a batch of this machine in one transaction: its row is locked, so there is one writer a machine, and no number of
 * the batch appears after a larger one.
 * @param act gets the machine's counter, and returns by how much it grows
 * @throws UserError `hub-foreign-machine`, `hub-label-taken`, `hub-unreachable` if a copy of this mirror pushes too
 */
export async function asOwnMachine(
  hub: Hub,
  own: OwnMachine,
  act: (counter: number) => Promise<number>,
): Promise<void> {
  try {
    await hub.transaction(async () => {
      const found = (await lock(hub, own)) ?? (await register(hub, own))
      if (found?.owner !== found?.role || found === undefined) throw foreign(own)
      if (numberOf(found.value) > own.number) throw pushedElsewhere(own)
      // A hub that was restored from a backup has an older counter, and readers have seen larger numbers. Its clock is ahead.
      const counter = Math.max(found.counter, Math.floor(found.now))
      const grown = counter + (await act(counter))
      await mustChange(hub, 1, COUNT, [own.uuid, String(own.number), grown, own.label])
    })
  } catch (error) {
    throw error instanceof UserError && error.code === LABEL_TAKEN ? labelTaken(own) : error
  }
}

const LABEL_TAKEN = 'hub-label-taken'

const lock = async (hub: Hub, { uuid }: OwnMachine): Promise<Found | undefined> =>
  (await hub.rows<Found>(LOCK, [uuid]))[0]

async function register(hub: Hub, own: OwnMachine): Promise<Found | undefined> {
  if (own.former !== null) await hub.change(FREE_LABEL, [own.label])
  await hub.change(REGISTER, [own.uuid, own.label])
  return lock(hub, own)
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

const pushedElsewhere = ({ label }: OwnMachine): UserError =>
  new UserError(
    'hub-unreachable',
    `Another push of the machine ${label} came in between.`,
    'Push again. If that was a copy of this mirror, this one becomes a new machine then.',
  )

const labelTaken = ({ label }: OwnMachine): UserError =>
  new UserError(
    LABEL_TAKEN,
    `The label ${label} belongs to another machine of this role.`,
    `Set another hub.machine. If that machine is lost: cursordex hub forget --machine '${label}'`,
    { exitCode: 2 },
  )
