import { createHmac } from 'node:crypto'
import type { Histories } from '../git/histories.ts'
import type { LocalProject } from '../mirror/hub/own-side.ts'
import { UserError } from '../model/user-error.ts'
import type { HubFacts } from './client.ts'

/** The project of chats that belong to none. */
export const NO_PROJECT = '(none)'

/** The name for chats of this role that belong to no project. */
export const nameOfNone = (role: string): string => `${role} ${NO_PROJECT}`

/**
 * The name of a project at the hub: its git remote, so that all clones are one project, else the role and the folder. While
 * redaction is on, the folder's path is hashed, and its last part is a label.
 */
export async function nameOfProject(
  project: LocalProject,
  { role, salt }: HubFacts,
  isRedacted: boolean,
  histories: Pick<Histories, 'remote'>,
): Promise<string> {
  const remote = project.uri.startsWith('file:///') ? await readRemote(project.path, histories) : null
  if (remote !== null) return remote
  if (!isRedacted) return `${role} ${project.uri}`
  const hash = createHmac('sha256', salt).update(project.uri).digest('hex').slice(0, 16)
  return `${role} ${project.name}#${hash}`
}

async function readRemote(root: string, histories: Pick<Histories, 'remote'>): Promise<string | null> {
  try {
    const url = await histories.remote(root)
    return url === null ? null : normaliseRemote(url)
  } catch (error) {
    // There is no git, no repository or no remote.
    if (error instanceof UserError) return null
    throw error
  }
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
