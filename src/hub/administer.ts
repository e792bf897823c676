import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { escapeIdentifier } from 'pg'
import type { HubState } from '../api/answers/hub.ts'
import { UserError } from '../model/user-error.ts'
import { ALONE, readHub, type Hub } from './client.ts'
import { NAME_BYTES_MAX, SCHEMA_VERSION, steps, tables } from './schema.ts'

const IS_MADE = `select to_regclass('cursordex.hub') is not null as made`

/**
 * Makes the schema, if there is none. An older one was upgraded when its owner connected.
 * @returns the version that it had; 0 if there was none
 */
export const initHub = (hub: Hub): Promise<number> =>
  hub.transaction(async () => {
    await hub.rows(ALONE)
    const [found] = await hub.rows<{ made: boolean }>(IS_MADE)
    if (found?.made === true) return SCHEMA_VERSION
    await hub.change([tables, ...steps].join(''))
    return 0
  })

type HubDescription = NonNullable<HubState['hub']>

/** Whoever owns a machine may have written any time. */
const MACHINES = `
select m.uuid, left(m.label, ${NAME_BYTES_MAX}) as name, m.owner::text as "user", count(c.chat)::int as chats,
  coalesce(sum(octet_length(c.object)), 0)::float8 as bytes,
  to_char(nullif(least(greatest(m.pushed_at, 'epoch'), now()), 'epoch') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "pushedAt"
from cursordex.machines m left join cursordex.chats c on c.machine = m.uuid
group by m.uuid order by name, uuid
`
const PROJECTS = `
select left(project, ${NAME_BYTES_MAX}) as name, count(distinct machine)::int as machines, count(*)::int as chats,
  sum(octet_length(object))::float8 as bytes
from cursordex.chats group by project order by project
`
const GRANTS = `select role::text, project, push from cursordex.grants order by role, project`

/** What this role sees of the hub. */
export const describeHub = async (hub: Hub): Promise<Omit<HubDescription, 'waiting'>> => ({
  role: (await readHub(hub)).role,
  machines: await hub.rows<HubDescription['machines'][number]>(MACHINES),
  projects: await hub.rows<HubDescription['projects'][number]>(PROJECTS),
  grants: await hub.rows<HubDescription['grants'][number]>(GRANTS),
})

/** What a role may do. */
export interface GrantOrder {
  readonly role: string
  /** Names of projects at the hub; `*` is all. */
  readonly read: readonly string[]
  readonly push: readonly string[]
}

const FIND_ROLE = `select from pg_roles where rolname = $1`
const ALL_TABLES = 'cursordex.hub, cursordex.machines, cursordex.chats, cursordex.grants, cursordex.purged'
const PUSHED_TABLES = 'cursordex.machines, cursordex.chats, cursordex.purged'
const ADD_GRANT = `
insert into cursordex.grants (role, project, push) values ($1, $2, $3) on conflict do nothing
`
const DROP_GRANTS = `delete from cursordex.grants where role = $1`

/**
 * Gives rights to a role, and makes the role if it is missing.
 * @returns the password of a role that was made, which is stored nowhere, or null
 * @throws UserError, `hub-rights` for who is not the owner
 */
export const grant = (hub: Hub, { role, read, push }: GrantOrder): Promise<GrantOrder & { password: string | null }> =>
  hub.transaction(async () => {
    await readHub(hub)
    const name = escapeIdentifier(role)
    const password = (await isThere(hub, role)) ? null : randomBytes(18).toString('base64url')
    if (password !== null) await hub.change(`create role ${name} login password '${scramVerifier(password)}'`)
    for (const project of read) await hub.change(ADD_GRANT, [role, project, false])
    for (const project of push) await hub.change(ADD_GRANT, [role, project, true])
    await hub.change(`grant usage on schema cursordex to ${name}`)
    await hub.change(`grant select on ${ALL_TABLES} to ${name}`)
    if (push.length > 0) await hub.change(`grant insert, update, delete on ${PUSHED_TABLES} to ${name}`)
    return { role, read, push, password }
  })

/** What PostgreSQL stores of a password: it can be checked by this, and not be learnt from it. */
function scramVerifier(password: string): string {
  const [salt, iterations] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const key = (name: string): Buffer => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`
}

/** Takes all rights from a role. The role stays, and so do the chats that it pushed. */
export const revoke = (hub: Hub, role: string): Promise<{ readonly role: string; readonly grants: number }> =>
  hub.transaction(async () => {
    await readHub(hub)
    const name = escapeIdentifier(role)
    const grants = await hub.change(DROP_GRANTS, [role])
    if (await isThere(hub, role)) {
      await hub.change(`revoke all on ${ALL_TABLES} from ${name}`)
      await hub.change(`revoke all on schema cursordex from ${name}`)
    } else if (grants === 0) {
      throw wrong('hub-no-role', `There is no role ${role}.`, 'cursordex hub status')
    }
    return { role, grants }
  })

const isThere = async (hub: Hub, role: string): Promise<boolean> => (await hub.rows(FIND_ROLE, [role])).length > 0

export interface ForgetOrder {
  /** The label or the uuid of a machine. */
  readonly machine?: string | undefined
  /** The name of a project at the hub. */
  readonly project?: string | undefined
}

const FIND_MACHINES = `select uuid from cursordex.machines where uuid = $1 or label = $1`
const FORGET_CHATS = `delete from cursordex.chats where machine = $1`
/** A machine that purged stays without its label, because its purges go on. */
const KEEP_PURGER = `update cursordex.machines set label = uuid where uuid = $1`
const FORGET_MACHINE = `
delete from cursordex.machines where uuid = $1 and not exists (select from cursordex.purged where machine = $1)
`
const FORGET_PROJECT = `delete from cursordex.chats where project = $1`

/**
 * Removes chats from the hub. What a machine purged stays known, so that it does not come back.
 * @returns how many chats were removed
 * @throws UserError `hub-no-machine`, `hub-many-names`
 */
export const forget = (hub: Hub, { machine, project }: ForgetOrder): Promise<number> =>
  hub.transaction(async () => {
    await readHub(hub)
    if (project !== undefined) return hub.change(FORGET_PROJECT, [project])
    const uuid = await findMachine(hub, machine ?? '')
    const removed = await hub.change(FORGET_CHATS, [uuid])
    await hub.change(KEEP_PURGER, [uuid])
    await hub.change(FORGET_MACHINE, [uuid])
    return removed
  })

async function findMachine(hub: Hub, given: string): Promise<string> {
  const [one, ...others] = (await hub.rows<{ uuid: string }>(FIND_MACHINES, [given])).map(({ uuid }) => uuid)
  if (one === undefined) {
    throw wrong('hub-no-machine', `There is no machine ${given} at the hub.`, 'cursordex hub status')
  }
  if (others.length === 0) return one
  const names = [one, ...others].join(', ')
  throw wrong('hub-many-names', `Several machines are named ${given}.`, `Name one by its uuid: ${names}`)
}

const wrong = (code: string, text: string, hint: string): UserError => new UserError(code, text, hint, { exitCode: 2 })
