import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { finding, listing } from '../sql.ts'
import { isMirrored } from '../write/chat-columns.ts'
import { childrenOf, tellsFacts } from '../../model/change.ts'
import type { Change, ChatChange, EvidenceWrite, Root } from '../../model/change.ts'
import { mergedInto, findProject, groupOf, ownerOf, projectIdOf } from './owners.ts'
import { EXCLUDED_URI, PARENT_RANK } from './place-chats.ts'

/** The rank of the evidence that a transcript's folder gives. */
const TRANSCRIPT_RANK = 60

type Named = Pick<Root, 'uri' | 'path' | 'name' | 'worktreeOf'>

/**
 * Whether one of the patterns names the project. A pattern with a slash is a path, in which `?` and `*` match within one
 * folder's name, and `**` matches anything. Any other pattern is a name or an id.
 */
export const isOfProject = ({ uri, path, name }: Named, patterns: readonly string[]): boolean =>
  patterns.map(stored).some((wanted) => {
    if (!wanted.includes('/')) return wanted === name.normalize('NFC') || wanted === projectIdOf(uri)
    return globOf(wanted).test(path.normalize('NFC'))
  })

/** As the mirror stores paths: slashes, and a lower-case drive letter. Some macOS disks store accents apart from letters. */
function stored(pattern: string): string {
  const composed = pattern.normalize('NFC')
  const isOfWindows = /^[a-z]:[/\\]/iu.test(composed)
  return isOfWindows ? composed.charAt(0).toLowerCase() + composed.slice(1).replaceAll('\\', '/') : composed
}

const WILDCARDS: Readonly<Record<string, string>> = { '**': '.*', '*': '[^/]*', '?': '[^/]' }

const readProject = finding<[num: number], Named>(`select uri, path, name from projects where num = ?`)

/**
 * Whether the root is a working tree of a project that one of the patterns names, or was merged into one. If its folder is gone and nothing else
 * tells its repository, the name of the folder above it counts.
 */
function isTreeOf(db: Mirror, root: Named, patterns: readonly string[]): boolean {
  const { uri, worktreeOf } = root
  const merged = mergedInto(db, worktreeOf?.uri ?? uri)
  if (merged !== null && isOfProject(merged, patterns)) return true
  if (worktreeOf !== undefined) return isOfProject(worktreeOf, patterns)
  const num = findProject(db, uri)
  const owner = num === null ? undefined : readProject(db, ownerOf(db, num).owner)
  if (owner !== undefined && owner.uri !== uri && isOfProject(owner, patterns)) return true
  const name = groupOf(root)?.name
  return name !== undefined && patterns.some((pattern) => globOf(lastName(pattern)).test(name.normalize('NFC')))
}

/** The last folder's name in a pattern. */
const lastName = (pattern: string): string => /[^/]+(?=\/*$)/.exec(stored(pattern))?.[0] ?? '*'

function globOf(pattern: string): RegExp {
  const bare = pattern.replace(/(?<=[^/:])\/+$/, '')
  const source = bare.replaceAll(/\*\*|[*?]|[\\^$.+()[\]{}|]/g, (sign) => WILDCARDS[sign] ?? `\\${sign}`)
  return new RegExp(`^${source}$`, 'su')
}

/** What may follow the path in the name of a workspace file below it. */
const WORKSPACE_FILE = '(?:-(?:.+-)?(?:code-workspace|workspace-json))?'

/** A long name is cut and ends in a hash. Where Cursor cuts is not known. */
const CUT = /^(.{40,})-(?=[a-z]*[0-9])[0-9a-z]{6,}$/

/**
 * Whether Cursor may have made this name from the path of a project that one of the patterns names, or from the path of
 * a workspace file below it. Such a name has `-` for each character other than Latin letters and digits, or for each run
 * of them; some versions keep `_`. So one name stands for many paths: `a-b` is `a/b`, `a.b` or `a b`.
 * @param patterns as for `isOfProject`
 */
export function mayBeOfProject(slug: string, patterns: readonly string[]): boolean {
  const name = plain(slug)
  const cut = CUT.exec(name)?.[1]
  const trees = patterns.map((pattern) => patternOf(plain(`**/.cursor/worktrees/${lastName(pattern)}/*`)))
  if (trees.some((source) => new RegExp(`^${source}$`).test(name))) return true
  const globs = patterns.map(stored).flatMap((glob) => (glob.includes('/') ? [glob] : [`/${glob}`, `**/${glob}`]))
  return globs.map(plain).some((glob) => {
    // The end of a path may have been trimmed. After a wildcard that would match every name.
    const whole = patternOf(glob).replace(/(?<=[^*])-$/, '-?')
    if (whole === '') return false
    if (new RegExp(`^${whole}${WORKSPACE_FILE}$`).test(name)) return true
    if (cut === undefined) return false
    const begun = Array.from(glob, (_, at) => patternOf(glob.slice(0, at + 1)))
    return [`${whole}-.*`, ...begun].some((source) => new RegExp(`^${source}$`).test(cut))
  })
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9*?]+/g, '-')
    .replace(/^-/, '')

/** A name does not show where a folder ends, so `*` matches all of it. Several in a row would be tried in all combinations. */
const patternOf = (glob: string): string => glob.replace(/[*?]*\*[*?]*|\?/g, (sign) => (sign === '?' ? '.?' : '.*'))

/**
 * A change without the chats of excluded projects. Chats that are already mirrored stay as they are, and get nothing new. The
 * source's rows stay, so that they count as read: only their keys, sizes and checksums are stored.
 */
export function withoutExcluded(db: Mirror, change: Change, patterns: readonly string[]): Change {
  const isExcluded = (root: Named): boolean =>
    root.uri === EXCLUDED_URI || isOfProject(root, patterns) || isTreeOf(db, root, patterns)
  const nowhere = { uri: EXCLUDED_URI, path: '', name: '', remote: null }
  const known = [...change.evidence, ...guessEvidence(db, change, patterns, nowhere)]
  const excludes = judge(db, { ...change, evidence: known }, isExcluded)
  const stays = ({ chatId }: { readonly chatId: ChatId }): boolean => !excludes(chatId)
  const barred = change.chats.filter(({ id }) => excludes(id))
  const followers = barred
    .flatMap((chat) => [...(chat.slug === undefined ? [] : [chat.id]), ...childrenOf(chat)])
    .filter((id) => !isMirrored(db, id))
    .map((chatId) => ({ chatId, method: 'parent', rank: PARENT_RANK - 1, root: nowhere, isOnly: true }))
  return {
    ...change,
    chats: change.chats.filter((chat) => !excludes(chat.id) || bringsNothing(chat)),
    evidence: [
      // A mirrored chat moves to its real project, so that a purge of that project finds it.
      ...change.evidence.map((each) =>
        isExcluded(each.root) && !isMirrored(db, each.chatId) ? { ...each, root: nowhere } : each,
      ),
      ...followers,
    ],
    workspaces: change.workspaces.filter(({ root }) => !isExcluded(root)),
    metadata: change.metadata.filter(stays),
    tracked: change.tracked.filter(stays),
    paths: change.paths.filter(stays),
  }
}

/** A purge writes a chat so that its columns are computed again. */
const bringsNothing = ({ ownRow, messages, vanished }: ChatChange): boolean =>
  ownRow.kind === 'unread' && messages.length === 0 && vanished.length === 0

const listNamed = listing<[], Named>(`select uri, path, name from projects where uri <> '${EXCLUDED_URI}'`)

/**
 * Evidence for chats in a folder of which only Cursor's name is known, if that could be the name of an excluded project. It
 * counts more than a transcript's folder.
 */
function guessEvidence(db: Mirror, { chats }: Change, patterns: readonly string[], root: Root): EvidenceWrite[] {
  const slugs = new Set(chats.flatMap(({ slug }) => slug ?? []))
  if (slugs.size === 0) return []
  const paths = listNamed(db).flatMap((project) => (isOfProject(project, patterns) ? project.path : []))
  const doubtful = new Set([...slugs].filter((slug) => mayBeOfProject(slug, [...patterns, ...paths])))
  return chats
    .filter(({ slug }) => slug !== undefined && doubtful.has(slug))
    .map(({ id }) => ({ chatId: id, method: 'name', rank: TRANSCRIPT_RANK - 0.5, root, isOnly: false }))
}

/** Decides by what the mirror and the change know together, in the order in which `placeChats` decides. */
function judge(db: Mirror, change: Change, isExcluded: (root: Named) => boolean): (id: ChatId) => boolean {
  const parents = parentsIn(change)
  const given = new Map<ChatId, EvidenceWrite[]>()
  for (const each of change.evidence) given.set(each.chatId, [...(given.get(each.chatId) ?? []), each])
  const verdicts = new Map<ChatId, boolean>()
  const decide = (id: ChatId): boolean => {
    const best = bestEvidence(db, id, given.get(id) ?? [], change.nowMs)
    if (best !== undefined && best.rank < PARENT_RANK) return isExcluded(best.root)
    const parent = parents.get(id)
    if (parent !== undefined && excludes(parent)) return true
    return best !== undefined && isExcluded(best.root)
  }
  const excludes = (id: ChatId): boolean => {
    const known = verdicts.get(id)
    if (known !== undefined) return known
    // A chat may be its own ancestor.
    verdicts.set(id, false)
    const verdict = decide(id)
    verdicts.set(id, verdict)
    return verdict
  }
  return excludes
}

function parentsIn({ chats, metadata }: Change): ReadonlyMap<ChatId, ChatId> {
  const parents = new Map<ChatId, ChatId>()
  for (const chat of chats) for (const child of childrenOf(chat)) parents.set(child, chat.id)
  for (const { chatId, parentChatId } of metadata) if (parentChatId !== null) parents.set(chatId, parentChatId)
  for (const { id, ownRow } of chats) {
    const parent = tellsFacts(ownRow) ? ownRow.facts.parentChatId : null
    if (parent !== null) parents.set(id, parent)
  }
  return parents
}

/** The project that a chat is in counts after all evidence. */
const listEvidence = listing<[{ readonly id: ChatId }], StoredEvidence>(`
select method, rank, noted_at as notedAtMs, uri, path, name from evidence join projects on num = project
where chat_id = @id
union all
select '', 1000, 0, p.uri, p.path, p.name from chats c join projects p on p.num = c.project where c.id = @id
`)
type StoredEvidence = Named & Pick<EvidenceWrite, 'method' | 'rank'> & { readonly notedAtMs: number }

function bestEvidence(db: Mirror, id: ChatId, given: readonly EvidenceWrite[], nowMs: number) {
  const replaced = new Set(given.flatMap(({ isOnly, method }) => (isOnly ? method : [])))
  const held = listEvidence(db, { id })
  const all = [
    ...given.map(({ rank, root, notedAtMs = nowMs }) => ({ rank, notedAtMs, root: root as Named })),
    ...held.filter(({ method }) => !replaced.has(method)).map((row) => ({ ...row, root: row })),
  ]
  return all.sort((a, b) => a.rank - b.rank || b.notedAtMs - a.notedAtMs)[0]
}

const listMirrored = listing<[], Named & { readonly id: string; readonly chats: number }>(`
select p.id, p.uri, p.name, p.path, count(*) as chats
from projects p join chats c on c.project = p.num
group by p.num order by p.path, p.id
`)

/** The excluded projects of which the mirror has chats. */
export const listExcludedProjects = (db: Mirror, patterns: readonly string[]) =>
  listMirrored(db).filter((project) => isOfProject(project, patterns))
