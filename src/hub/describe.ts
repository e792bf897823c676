import { readHub, type Hub } from './client.ts'

export interface HubMachine {
  readonly uuid: string
  readonly name: string
  /** The role that owns it. */
  readonly user: string
  readonly chats: number
  /** Size of the objects. */
  readonly bytes: number
  /** ISO 8601; null if it never pushed. */
  readonly pushedAt: string | null
}

export interface HubProject {
  readonly name: string
  readonly machines: number
  readonly chats: number
  readonly bytes: number
}

export interface HubDescription {
  readonly role: string
  readonly machines: readonly HubMachine[]
  readonly projects: readonly HubProject[]
  readonly grants: readonly { readonly role: string; readonly project: string; readonly push: boolean }[]
}

const MACHINES = `
select m.uuid, m.label as name, m.owner::text as "user", count(c.chat)::int as chats,
  coalesce(sum(octet_length(c.object)), 0)::float8 as bytes,
  to_char(m.pushed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "pushedAt"
from cursordex.machines m left join cursordex.chats c on c.machine = m.uuid
group by m.uuid order by name, uuid
`
const PROJECTS = `
select project as name, count(distinct machine)::int as machines, count(*)::int as chats,
  sum(octet_length(object))::float8 as bytes
from cursordex.chats group by project order by project
`
const GRANTS = `select role::text, project, push from cursordex.grants order by role, project`

/** What this role sees of the hub. */
export const describeHub = (hub: Hub): Promise<HubDescription> =>
  hub.transaction(async () => {
    const { role } = await readHub(hub)
    return {
      role,
      machines: await hub.rows<HubMachine>(MACHINES),
      projects: await hub.rows<HubProject>(PROJECTS),
      grants: await hub.rows<HubDescription['grants'][number]>(GRANTS),
    }
  }, 'isolation level repeatable read, read only')
