import { hash as digest } from 'node:crypto'
import type { Mirror } from '../open.ts'
import { counting, finding, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
import type { Root } from '../../model/change.ts'
import type { ChatId } from '../../model/ids.ts'
import { ofUser } from '../purge/bars.ts'
import { ROOT } from '../hub/hub.ts'

/** The id of a project: a hash of its normalised root URI. */
export const projectIdOf = (uri: string): string => digest('sha256', uri).slice(0, 16)

/** The number of the project with this root; null if it is not known. */
export const findProject = findingValue<[uri: string], number>(`select num from projects where uri = ?`)
const ADD_PROJECT = `
insert into projects (id, uri, path, name, remote_kind, remote_host) values (?, ?, ?, ?, ?, ?)
`

/** The project of this root; created if it does not exist. A working tree belongs to the project of its repository. */
export function projectNum(db: Mirror, root: Root): number {
  const { uri, path, name, remote, worktreeOf } = root
  const known = findProject(db, uri)
  if (known === null) placeAllNext(db)
  const values = [projectIdOf(uri), uri, path, name, remote?.kind, remote?.host]
  const num = known ?? Number(prepared(db, ADD_PROJECT).run(...values).lastInsertRowid)
  if (name !== UNNAMED && path.endsWith(`/${UNNAMED}`)) rename(db, name, num, name)
  const owner = worktreeOf ?? groupOf(root)
  if (owner !== null) noteOwner(db, num, projectNum(db, owner), worktreeOf === undefined ? FOUND : NAMED)
  return num
}

/** How it is known to which project another one belongs: the working tree names it, or it was found by its name. */
const NAMED = 'named'
const FOUND = 'found'
/** It is another spelling of the same folder on Windows. */
const SPELT = 'spelt'
/** A person said so. It counts before all others. */
const MERGED = 'merged'
type How = typeof NAMED | typeof FOUND | typeof SPELT | typeof MERGED

/** What a working tree once named stays when its folder is gone. */
const setOwner = writing<[{ readonly num: number; readonly owner: number; readonly how: How }]>(`
update projects set belongs_to = @owner, belongs_how = @how
where num = @num and num <> @owner and (belongs_to is not @owner or belongs_how is not @how)
  and (@how in ('${NAMED}', '${MERGED}') or belongs_how is not '${NAMED}')
  and (@how = '${MERGED}' or belongs_how is not '${MERGED}')
`)
/** The connections on which no project, and no owner of one, became known since `settleOwners`. */
const settled = new WeakSet<Mirror>()
export const isSettled = (db: Mirror): boolean => settled.has(db)

/** Makes the next `placeByPaths` check all chats. Call it if chats were written without a call of `placeByPaths`. */
export const placeAllNext = (db: Mirror): boolean => settled.delete(db)

function noteOwner(db: Mirror, num: number, owner: number, how: How): void {
  if (setOwner(db, { num, owner, how }) > 0) placeAllNext(db)
}

/** A window of several folders that was never saved. Its name is that of its file unless its folders are known. */
const UNNAMED = 'workspace.json'
const rename = writing<[name: string, num: number, former: string]>(
  `update projects set name = ? where num = ? and name <> ?`,
)

/** A folder in which Cursor makes the working trees of one repository, and one of them. */
const GROUP = /\/\.cursor\/worktrees\/[^/]+$/
const WORKTREE = /\/\.cursor\/worktrees\/[^/]+(\/.+)$/s

/** The folder that has this one of Cursor's working trees, and has the repository's name. Null for any other folder. */
export function groupOf({ uri, path, remote = null }: Pick<Root, 'uri' | 'path'> & Partial<Root>): Root | null {
  const [tree, within] = [WORKTREE.exec(uri)?.[1], WORKTREE.exec(path)?.[1]]
  if (tree === undefined || within === undefined) return null
  const group = path.slice(0, -within.length)
  return { uri: uri.slice(0, -tree.length), path: group, name: group.slice(group.lastIndexOf('/') + 1), remote }
}

const readOwner = finding<[num: number], { readonly owner: number | null; readonly how: How; readonly uri: string }>(
  `select belongs_to as owner, belongs_how as how, uri from projects where num = ?`,
)

/** Working trees, folders that have them, repositories, and merges. */
const STEPS_MAX = 16

/** The project to which the chats of a project belong, and the working tree in which they ran, if it is one. */
export function ownerOf(db: Mirror, project: number): { readonly owner: number; readonly worktree: number | null } {
  let [owner, worktree]: [number, number | null] = [project, null]
  const passed = new Set<number>()
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const row = readOwner(db, owner)
    if (row === undefined || row.owner === null) break
    // A repository was merged into a working tree of its own.
    if (passed.has(owner) && row.how === MERGED) return { owner: row.owner, worktree: null }
    passed.add(owner)
    if (!GROUP.test(row.uri) && row.how !== SPELT && row.how !== MERGED) worktree ??= owner
    owner = row.owner
  }
  return { owner, worktree }
}

interface Known extends Pick<Root, 'uri' | 'path' | 'name'> {
  readonly num: number
  readonly kind: string | null
  readonly host: string | null
  readonly owner: number | null
  readonly how: string | null
}

const listKnown = listing<[], Known>(`
select num, uri, path, name, remote_kind as kind, remote_host as host, belongs_to as owner, belongs_how as how
from projects
`)
const forgetOwner = writing<[num: number]>(
  `update projects set belongs_to = null, belongs_how = null where num = ? and belongs_to is not null`,
)
/** @param nums numbers of more projects, as JSON */
const listChatsBelow = listingValues<[nums: string], ChatId>(`
with recursive below (num) as (
  select num from projects where belongs_to is not null or num in (select value from json_each(?))
  union select projects.num from below join projects on projects.belongs_to = below.num
)
select chat_id from evidence where project in (select num from below)
union select id from chats where project in (select num from below) or worktree is not null
`)

const listUndone = listingValues<[uris: string], number>(
  `select num from projects where belongs_how = '${MERGED}' and uri not in (select value from json_each(?))`,
)

/** Makes projects belong to others as the user's file says. @returns those that do no more */
function settleMerges(db: Mirror): readonly number[] {
  const merges = ofUser(() => listMerges(db))
  const undone = listUndone(db, JSON.stringify(merges.map(({ uri }) => uri)))
  for (const num of undone) forgetOwner(db, num)
  for (const { uri, target } of merges) {
    const num = findProject(db, uri)
    if (num !== null) noteOwner(db, num, projectNum(db, JSON.parse(target) as Target), MERGED)
  }
  return undone
}

/**
 * Finds which repository each folder of working trees stands for, if they do not say it themselves: the one that another
 * working tree in it names, or the only project on that machine with the folder's name.
 * @returns the chats that are to be placed again
 */
export function settleOwners(db: Mirror): ChatId[] {
  const undone = settleMerges(db)
  // An older program did not know working trees.
  for (const { num, kind, host, ...root } of listKnown(db)) {
    const group = groupOf({ ...root, remote: kind === null ? null : { kind, host: host ?? '' } })
    if (group !== null) noteOwner(db, num, projectNum(db, group), FOUND)
  }
  const all = listKnown(db)
  const groups = all.filter(({ uri, how }) => GROUP.test(uri) && how !== MERGED)
  for (const { num, uri, name } of groups) {
    const trees = all.filter((each) => each.how === NAMED && each.uri.startsWith(`${uri}/`))
    const alike = all.filter((each) => each.name === name && each.how !== NAMED && isBeside(each.uri, uri))
    const found = new Set(trees.length > 0 ? trees.map(({ owner }) => owner) : alike.map((each) => each.num))
    const [owner = null] = found.size === 1 ? found : []
    if (owner === null) forgetOwner(db, num)
    else noteOwner(db, num, owner, FOUND)
  }
  const firsts = new Map<string, number>()
  const spelt = all
    .filter(isOfWindows)
    .toSorted((a, b) => Number(b.how === MERGED) - Number(a.how === MERGED) || (a.uri < b.uri ? -1 : 1))
  for (const { num, uri, how } of spelt) {
    const first = firsts.get(uri.toLowerCase())
    if (first === undefined) {
      firsts.set(uri.toLowerCase(), num)
      // Another spelling was the first one until now.
      if (how === SPELT) forgetOwner(db, num)
    } else if (how !== NAMED && how !== FOUND) noteOwner(db, num, first, SPELT)
  }
  settled.add(db)
  return listChatsBelow(db, JSON.stringify([...groups.map(({ num }) => num), ...undone]))
}

/** Windows does not distinguish case in paths. Which spelling counts must not depend on the order of reading. */
const isOfWindows = ({ uri }: Known): boolean => /^file:\/\/\/[a-z]:/.test(uri)

/** Whether a folder is on the machine of a folder of working trees, and is none itself. */
const isBeside = (uri: string, group: string): boolean =>
  !uri.includes('/.cursor/worktrees/') && /^[^/]*\/\/[^/]*\//.exec(uri)?.[0] === /^[^/]*\/\/[^/]*\//.exec(group)?.[0]

type Target = Pick<Root, 'uri' | 'path' | 'name' | 'remote'>

/** The projects that a person merged into others, by their root URIs; target: a root as JSON. */
const listMerges = listing<[], { readonly uri: string; readonly target: string }>(
  `select uri, target from user.merges where uri is not null`,
)
const findTarget = findingValue<[uri: string], string>(`select target from user.merges where uri = ?`)
/** The number of the last act, so that an older list in an archive brings back nothing that was undone. */
const lastMerge = counting(`select coalesce(max(num), 0) from user.merges`)
const removeMerge = writing<[uri: string]>(`delete from user.merges where uri = ? or uri is null`)
const addMerge = writing<[num: number, uri: string, target: string]>(
  `insert into user.merges (num, uri, target) select ?, ?, ${ROOT} from projects where uri = ?`,
)
const countUndo = writing<[num: number]>(`insert into user.merges (num) values (?)`)

/** The project into which a person merged the one with this root URI; null if nobody did. */
export const mergedInto = (db: Mirror, uri: string): Target | null =>
  JSON.parse(ofUser(() => findTarget(db, uri)) ?? 'null') as Target | null

/**
 * Notes in the user's file that the chats of a project belong to another one. `placeByPaths` moves them.
 * @param uri the root URI of the former @param target that of the other; null: they belong to their own again
 */
export function noteMerge(db: Mirror, uri: string, target: string | null): void {
  const note = (): void => {
    const num = lastMerge(db) + 1
    removeMerge(db, uri)
    // An undone merge leaves no word of it, only a number.
    if (target === null) countUndo(db, num)
    else addMerge(db, num, uri, target)
  }
  ofUser(() => db.transaction(note)())
  placeAllNext(db)
}
