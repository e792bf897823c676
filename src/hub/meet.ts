import { createHmac } from 'node:crypto'
import type { Histories } from '../git/histories.ts'
import { listUnnamed, type LocalProject } from '../mirror/hub/hub.ts'
import type { Mirror } from '../mirror/open.ts'
import { readHub, type Hub, type HubFacts } from './client.ts'

/** What the mirror has to know before a push or a pull. */
export interface Meeting {
  /** Projects that had no name at the hub yet. */
  readonly names: readonly { readonly uri: string; readonly name: string }[]
  /** The number of the last push of this machine that the hub knows. 0: none. */
  readonly lastPush: number
}

const LAST_PUSH = `select value from cursordex.machines where uuid = $1`

/** @param uuid of this machine */
export async function meet(
  hub: Hub,
  db: Mirror,
  histories: Pick<Histories, 'remote'>,
  { uuid, isRedacted }: { readonly uuid: string; readonly isRedacted: boolean },
): Promise<Meeting> {
  const facts = await readHub(hub)
  const names: { uri: string; name: string }[] = []
  for (const project of listUnnamed(db)) {
    names.push({ uri: project.uri, name: await nameOfProject(project, facts, isRedacted, histories) })
  }
  const [machine] = await hub.rows<{ value: string | null }>(LAST_PUSH, [uuid])
  // Earlier versions wrote random letters.
  return { names, lastPush: Number(machine?.value) || 0 }
}

/** The name for chats of this role that belong to no project. */
export const nameOfNone = (role: string): string => `${role} (none)`

/**
 * The name of a project at the hub: its git remote, so that all clones are one project, else the role and the folder. While
 * redaction is on, the folder's path is hashed, and its last part is a label.
 */
async function nameOfProject(
  { uri, path, name }: LocalProject,
  { role, salt }: HubFacts,
  isRedacted: boolean,
  histories: Pick<Histories, 'remote'>,
): Promise<string> {
  const url = uri.startsWith('file:///') ? await histories.remote(path) : null
  const remote = url === null ? null : normaliseRemote(url)
  if (remote !== null) return remote
  if (!isRedacted) return `${role} ${uri}`
  return `${role} ${name}#${createHmac('sha256', salt).update(uri).digest('hex').slice(0, 16)}`
}

/**
 * `github.com/acme/app` for all ways to write it: https, ssh, scp-like, with user, password, port or `.git`. Null for a
 * folder of this machine.
 */
export function normaliseRemote(url: string): string | null {
  const trimmed = url.trim()
  const scp = /^(?:[^@/\s]+@)?([^:/\s]{2,}):(?!\/\/)(.+)$/.exec(trimmed)
  const full = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:?#]+)(?::\d+)?\/([^?#]*)/i.exec(trimmed)
  const [, host, path] = full ?? scp ?? []
  if (host === undefined || path === undefined || /^file:/i.test(trimmed)) return null
  const clean = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  return clean === '' ? null : `${host.toLowerCase()}/${clean}`
}
