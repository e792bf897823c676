import type { ChatId } from '../model/ids.ts'
import type { Batch } from './batch.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { listChildren, moveChat, placeChats } from './write-projects.ts'

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
 * nobody opened as a workspace would be a guess. Looks at all of them where a root became known since it was last asked,
 * else at those touched.
 * @returns the chats that moved
 */
export function placeByPaths(db: Mirror, touched: ReadonlySet<ChatId>): ChatId[] {
  const isAll = hasNewRoot(db)
  return db.transaction(() => {
    const roots = new Map(
      prepared<{ num: number; uri: string }>(db, LIST_ROOTS)
        .all()
        .map(({ num, uri }) => [uri, num]),
    )
    const homeless = isAll ? prepared<{ id: ChatId }>(db, LIST_HOMELESS).all() : homelessAmong(db, touched)
    if (homeless.length === 0) return []
    return homeless.flatMap(({ id }) => {
      const uris = prepared<{ uri: string }>(db, LIST_PATHS)
        .all(id)
        .map(({ uri }) => uri)
      const project = rootOfMost(uris, roots)
      if (project === null || !moveChat(db, id, project, METHOD)) return []
      return [id, ...placeChats(db, listChildren(db, id))]
    })
  })()
}

const IS_HOMELESS = `
select 1 from chats where id = ? and (project is null or project_source = '${METHOD}')
`

const homelessAmong = (db: Mirror, ids: ReadonlySet<ChatId>): { id: ChatId }[] =>
  [...ids].flatMap((id) => (prepared(db, IS_HOMELESS).get(id) === undefined ? [] : [{ id }]))

const NEWEST_ROOT = `select coalesce(max(num), 0) as num from projects`
const newestSeen = new WeakMap<Mirror, number>()

/** Each root has a project, and those are numbered in the order in which they became known. */
function hasNewRoot(db: Mirror): boolean {
  const newest = prepared<{ num: number }>(db, NEWEST_ROOT).get()?.num ?? 0
  if (newestSeen.get(db) === newest) return false
  newestSeen.set(db, newest)
  return true
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
