import { readObjects } from './read-objects.ts'

/** The chats that are named and the subagents that they called, at any remove, by what is archived of them. */
export function* archivedFamily(dir: string, ids: readonly string[]): Generator<void, ReadonlySet<string>> {
  const children = new Map<string, Set<string>>()
  const add = (parent: string, child: string): void => {
    children.set(parent, (children.get(parent) ?? new Set()).add(child))
  }
  for (const object of readObjects(dir)) {
    if (object.kind === 'sound') {
      const { id, parentChatId, childChatIds } = object.chat
      if (parentChatId !== null) add(parentChatId, id)
      for (const child of childChatIds) add(id, child)
    }
    yield
  }
  const family = new Set<string>()
  const waiting = [...ids]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (family.has(id)) continue
    family.add(id)
    waiting.push(...(children.get(id) ?? []))
  }
  return family
}
