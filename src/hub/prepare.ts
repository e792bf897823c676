import { FORMAT_VERSION } from '../archive/record.ts'
import type { Histories } from '../git/histories.ts'
import { listLocalProjects } from '../mirror/hub/own-side.ts'
import type { Mirror } from '../mirror/open.ts'
import type { KnownPurge } from '../mirror/purge/purged-elsewhere.ts'
import { readHub, type Hub } from './client.ts'
import { nameOfProject } from './project-names.ts'

export interface Prepared {
  /** The uuid of the hub. */
  readonly hub: string
  /** The newest version of objects that this program reads. */
  readonly format: number
  readonly role: string
  /** Projects that had no name at the hub yet. */
  readonly names: readonly { readonly uri: string; readonly name: string }[]
  /** What this machine purged, as the hub remembers it. */
  readonly purged: readonly KnownPurge[]
}

const READ_PURGED = `select chat, message from cursordex.purged where machine = $1`

/** What the mirror has to note before a push or a pull. @param uuid of this mirror */
export async function prepare(
  hub: Hub,
  db: Mirror,
  histories: Pick<Histories, 'remote'>,
  { uuid, isRedacted }: { readonly uuid: string; readonly isRedacted: boolean },
): Promise<Prepared> {
  const facts = await readHub(hub)
  const names: { uri: string; name: string }[] = []
  for (const project of listLocalProjects(db)) {
    if (project.hubName !== null) continue
    names.push({ uri: project.uri, name: await nameOfProject(project, facts, isRedacted, histories) })
  }
  return {
    hub: facts.uuid,
    format: FORMAT_VERSION,
    role: facts.role,
    names,
    purged: await hub.rows<KnownPurge>(READ_PURGED, [uuid]),
  }
}
