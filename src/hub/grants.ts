import { randomBytes } from 'node:crypto'
import { UserError } from '../model/user-error.ts'
import { readHub, type Hub } from './client.ts'
import { scramVerifier } from './scram.ts'

/** What a role may do. */
export interface GrantOrder {
  readonly role: string
  /** Names of projects at the hub; `*` is all. */
  readonly read: readonly string[]
  readonly push: boolean
}

export interface Granted {
  readonly role: string
  readonly read: readonly string[]
  readonly push: boolean
  /** The password of a role that was made. It is stored nowhere. Null if the role existed. */
  readonly password: string | null
}

const QUOTED = `select quote_ident($1) as name, exists (select from pg_roles where rolname = $1) as is_there`
const ALL_TABLES = 'cursordex.hub, cursordex.machines, cursordex.chats, cursordex.grants, cursordex.purged'
const ADD_GRANT = `
insert into cursordex.grants (role, project, push) values ($1, $2, $3) on conflict (role, project) do nothing
`
const DROP_GRANTS = `delete from cursordex.grants where role = $1`
/** The row of the right to push names no project. */
const PUSH = ''

/** Gives rights to a role, and makes the role if it is missing. @throws UserError, `hub-rights` for who is not the owner */
export const grant = (hub: Hub, { role, read, push }: GrantOrder): Promise<Granted> =>
  hub.transaction(async () => {
    await readHub(hub)
    const { name, isThere } = await quoted(hub, role)
    const password = isThere ? null : randomBytes(18).toString('base64url')
    if (password !== null) await hub.change(`create role ${name} login password '${scramVerifier(password)}'`)
    const projects: string[] = []
    for (const project of read) projects.push(await fullName(hub, project))
    for (const project of projects) await hub.change(ADD_GRANT, [role, project, false])
    if (push) await hub.change(ADD_GRANT, [role, PUSH, true])
    await hub.change(`grant usage on schema cursordex to ${name}`)
    await hub.change(`grant select on ${ALL_TABLES} to ${name}`)
    if (push) {
      await hub.change(
        `grant insert, update, delete on cursordex.machines, cursordex.chats, cursordex.purged to ${name}`,
      )
    }
    return { role, read: projects, push, password }
  })

/** Takes all rights from a role. The role stays, and so do the chats that it pushed. */
export const revoke = (hub: Hub, role: string): Promise<{ readonly role: string; readonly grants: number }> =>
  hub.transaction(async () => {
    await readHub(hub)
    const { name, isThere } = await quoted(hub, role)
    const grants = await hub.change(DROP_GRANTS, [role])
    if (isThere) {
      await hub.change(`revoke all on ${ALL_TABLES} from ${name}`)
      await hub.change(`revoke all on schema cursordex from ${name}`)
    } else if (grants === 0) {
      throw new UserError('hub-no-role', `There is no role ${role}.`, 'cursordex hub status', { exitCode: 2 })
    }
    return { role, grants }
  })

async function quoted(hub: Hub, role: string): Promise<{ readonly name: string; readonly isThere: boolean }> {
  const [row] = await hub.rows<{ name: string; is_there: boolean }>(QUOTED, [role])
  return { name: row?.name ?? '', isThere: row?.is_there === true }
}

/** Names that end with a folder, after the role. */
const CANDIDATES = `
select distinct project from cursordex.chats where project = $1 or right(project, length($1) + 1) = ' ' || $1
order by project
`

/** The name of a project at the hub. The folder alone will do where it fits one name. @throws UserError `hub-many-names` */
async function fullName(hub: Hub, given: string): Promise<string> {
  const rows = await hub.rows<{ project: string }>(CANDIDATES, [given])
  const names = rows.map(({ project }) => project)
  if (given === '*' || names.includes(given)) return given
  // It may be pushed later.
  if (names.length <= 1) return names[0] ?? given
  throw new UserError(
    'hub-many-names',
    `Several projects are named ${given}.`,
    `Name one of them: ${names.join(', ')}`,
    {
      exitCode: 2,
    },
  )
}

export interface ForgetOrder {
  /** The label or the uuid of a machine. */
  readonly machine?: string | undefined
  /** The name of a project at the hub. */
  readonly project?: string | undefined
}

const FIND_MACHINES = `select uuid, label, owner::text as owner from cursordex.machines where uuid = $1 or label = $1`
const FORGET_CHATS = `delete from cursordex.chats where machine = $1`
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
    if (project !== undefined) return hub.change(FORGET_PROJECT, [await fullName(hub, project)])
    const found = await hub.rows<{ uuid: string; label: string; owner: string }>(FIND_MACHINES, [machine])
    const [one, ...others] = found
    if (one === undefined) {
      throw new UserError(
        'hub-no-machine',
        `There is no machine ${machine ?? ''} at the hub.`,
        'cursordex hub status',
        {
          exitCode: 2,
        },
      )
    }
    if (others.length > 0) {
      const names = found.map(({ uuid, owner }) => `${uuid} (${owner})`).join(', ')
      throw new UserError(
        'hub-many-names',
        `Several machines are named ${one.label}.`,
        `Name one by its uuid: ${names}`,
        {
          exitCode: 2,
        },
      )
    }
    const removed = await hub.change(FORGET_CHATS, [one.uuid])
    await hub.change(FORGET_MACHINE, [one.uuid])
    return removed
  })
