import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import type { ListedArchivedChat } from '../answers/archives.ts'
import type { Page, PageRequest } from '../answers/common.ts'
import { chooseChats, readChat } from '../archives/archive-files.ts'

export interface ArchivedChatsRequest extends PageRequest {
  readonly dir: string
  /** Of a run; null for all of them. */
  readonly name: string | null
  /** Words that the title has, or the beginning of the id; null for all chats. */
  readonly q: string | null
}

const TITLE = `select title from chats where id = ?`

/**
 * The chats of an archive, by title. The title is that of the mirror; only an archived chat that the mirror lacks is read.
 * @throws UserError `archive-not-found`
 */
export function listArchivedChats(
  db: Mirror,
  { dir: given, name, q, limit, offset }: ArchivedChatsRequest,
): Page<ListedArchivedChat> {
  const { dir, chats } = chooseChats(given, name)
  const words = (q ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found = chats.flatMap(({ id, entry, objects }): ListedArchivedChat[] => {
    if (id === null || entry === null) return []
    const held = prepared<string>(db, TITLE).pluck().get(id)
    const [object = ''] = objects
    const title = held ?? readChat(dir, object, id)?.chat.title ?? null
    const text = (title ?? '').toLowerCase()
    const isFound = id.startsWith(q ?? '') || words.every((word) => text.includes(word))
    return isFound ? [{ id, title, messages: entry.messages, bytes: entry.bytes, isHere: held !== undefined }] : []
  })
  const sorted = found.sort((one, other) => ((one.title ?? '') < (other.title ?? '') ? -1 : 1))
  return { items: sorted.slice(offset, offset + limit), total: sorted.length, limit, offset }
}
