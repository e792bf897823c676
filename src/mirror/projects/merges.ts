import type { Root } from '../../model/change.ts'
import type { Mirror } from '../open.ts'
import { ofUser } from '../purge/bars.ts'
import { ROOT } from '../hub/hub.ts'
import { prepared } from '../sql.ts'

type Target = Pick<Root, 'uri' | 'path' | 'name' | 'remote'>

const LIST = `select uri, target from user.merges where uri is not null`
const FIND = `select target from user.merges where uri = ?`
/** The number of the last act, so that an older list in an archive brings back nothing that was undone. */
const LAST = `select coalesce(max(num), 0) from user.merges`
const REMOVE = `delete from user.merges where uri = ? or uri is null`
const ADD = `insert into user.merges (num, uri, target) select ?, ?, ${ROOT} from projects where uri = ?`
const COUNT = `insert into user.merges (num) values (?)`

/** The projects that a person merged into others, by their root URIs. */
export const listMerges = (db: Mirror): readonly { readonly uri: string; readonly target: Target }[] =>
  ofUser(() => prepared<{ readonly uri: string; readonly target: string }>(db, LIST).all()).map(({ uri, target }) => ({
    uri,
    target: JSON.parse(target) as Target,
  }))

/** The project into which a person merged the one with this root URI; null if nobody did. */
export const mergedInto = (db: Mirror, uri: string): Target | null =>
  JSON.parse(ofUser(() => prepared<string>(db, FIND).pluck().get(uri)) ?? 'null') as Target | null

/**
 * Notes in the user's file that the chats of a project belong to another one. `placeByPaths` moves them.
 * @param uri the root URI of the former @param target that of the other; null: they belong to their own again
 */
export function noteMerge(db: Mirror, uri: string, target: string | null): void {
  const note = (): void => {
    const num = (prepared<number>(db, LAST).pluck().get() ?? 0) + 1
    prepared(db, REMOVE).run(uri)
    // An undone merge leaves no word of it, only a number.
    if (target === null) prepared(db, COUNT).run(num)
    else prepared(db, ADD).run(num, uri, target)
  }
  ofUser(() => db.transaction(note)())
}
