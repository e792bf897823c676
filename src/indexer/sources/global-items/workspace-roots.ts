import { dirname, join } from 'node:path'
import { readWorkspaceRoot } from '../records/chat/workspace-root.ts'

/** The root of a workspace, by its id. Null where there is none. */
export type RootOf = (workspaceId: string) => string | null

/** A workspace's id is the name of its folder, and nothing that leads out of the folder of them all. */
const isName = (id: string): boolean => /^[\w-][\w.-]*$/.test(id)

/** The roots of the workspaces beside this global store. Each is read once. @param path the store */
export function workspaceRoots(path: string): RootOf {
  const folder = join(dirname(dirname(path)), 'workspaceStorage')
  const known = new Map<string, string | null>()
  return (id) => {
    if (!known.has(id)) known.set(id, isName(id) ? rootOrNull(join(folder, id)) : null)
    return known.get(id) ?? null
  }
}

/** One that cannot be read costs no chat its head. */
function rootOrNull(folder: string): string | null {
  try {
    return readWorkspaceRoot(folder)
  } catch {
    return null
  }
}
