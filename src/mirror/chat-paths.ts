import type { ChatId } from '../model/ids.ts'
import type { Batch } from './batch.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { moveChat } from './write-projects.ts'

const ADD_PATH = `insert into chat_paths (chat_id, uri) values (?, ?) on conflict do nothing`
const DROP_PATHS = `delete from chat_paths where chat_id = ?`

export function writePaths(db: Mirror, batch: Batch): void {
  for (const { chatId, uris } of batch.paths) {
    prepared(db, DROP_PATHS).run(chatId)
    for (const uri of uris) prepared(db, ADD_PATH).run(chatId, uri)
  }
}

const METHOD = 'files'
const LIST_HOMELESS = `
select distinct chats.id from chats join chat_paths on chat_paths.chat_id = chats.id
where project is null or project_source = '${METHOD}'
`
const LIST_ROOTS = `
select num, uri from projects where num in (select project from evidence union select project from workspaces)
`
const LIST_PATHS = `select uri from chat_paths where chat_id = ?`

/**
 * Places the chats of which nothing tells where they belong but the files they are about: under the longest known root
 * that holds more than half of those files. Where no known root does, the chat stays without a project: a folder that
 * nobody opened as a workspace would be a guess. To be asked again whenever a root became known.
 * @returns the chats that moved
 */
export function placeByPaths(db: Mirror): ChatId[] {
  return db.transaction(() => {
    const roots = new Map(
      prepared<{ num: number; uri: string }>(db, LIST_ROOTS)
        .all()
        .map(({ num, uri }) => [uri, num]),
    )
    const homeless = prepared<{ id: ChatId }>(db, LIST_HOMELESS).all()
    return homeless.flatMap(({ id }) => {
      const uris = prepared<{ uri: string }>(db, LIST_PATHS)
        .all(id)
        .map(({ uri }) => uri)
      const project = rootOfMost(uris, roots)
      return project !== null && moveChat(db, id, project, METHOD) ? [id] : []
    })
  })()
}

function rootOfMost(uris: readonly string[], roots: ReadonlyMap<string, number>): number | null {
  const counts = new Map<number, number>()
  for (const uri of uris) {
    const root = deepestRoot(uri, roots)
    if (root !== null) counts.set(root, (counts.get(root) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most !== undefined && most[1] * 2 > uris.length ? most[0] : null
}

function deepestRoot(uri: string, roots: ReadonlyMap<string, number>): number | null {
  for (let end = uri.length; end > 0; end = uri.lastIndexOf('/', end - 1)) {
    const root = roots.get(uri.slice(0, end))
    if (root !== undefined) return root
  }
  return null
}
