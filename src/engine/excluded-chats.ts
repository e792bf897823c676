import type { Mirror } from '../mirror/open.ts'
import { listExcludedProjects } from '../mirror/projects/exclusion.ts'

/** A sentence for each excluded project of which the mirror still has chats, with the command that removes them. */
export function excludedChats(mirror: () => Mirror, patterns: readonly string[]): string[] {
  if (patterns.length === 0) return []
  return listExcludedProjects(mirror(), patterns).map(({ id, name, path, chats }) => {
    const count = `${chats.toLocaleString('en')} ${chats === 1 ? 'chat' : 'chats'}`
    return `The mirror has ${count} of ${name} (${path}), which exclude.projects leaves out. To remove them for good: cursordex purge --project ${id} --yes`
  })
}
