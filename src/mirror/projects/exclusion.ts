import { createHash } from 'node:crypto'
import type { ChatId } from '../../model/ids.ts'
import { wantUnmirrored } from '../hub/ledger.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { isMirrored } from '../write/chat-columns.ts'
import {
  childrenOf,
  tellsFacts,
  type Change,
  type ChatChange,
  type EvidenceWrite,
  type Root,
} from '../../model/change.ts'
import { isOfProject } from './match-project.ts'
import { mayBeOfProject } from './match-slug.ts'
import { PARENT_RANK, TRANSCRIPT_RANK } from './place-chats.ts'

type IsExcluded = (root: Pick<Root, 'uri' | 'path' | 'name'>) => boolean

/** The patterns of each connection. */
const exclusions = new WeakMap<Mirror, readonly string[]>()

/**
 * Stands for all excluded projects in the evidence of chats that are not mirrored, so that the mirror contains no name and
 * no path of them. Its path is a hash of the list.
 */
export const EXCLUDED_URI = 'cursordex:excluded'

const READ_LIST = `select path from projects where uri = ?`
const SAVE_LIST = `
insert into projects (id, uri, path, name) values ('excluded', ?, ?, '') on conflict (uri) do update set path = excluded.path
`
const FORGET_EVIDENCE = `delete from evidence where project = (select num from projects where uri = ?)`
const READ_ALL_AGAIN = `update sources set decoder = 0`

/**
 * Says for this connection which projects are not mirrored; once is enough. If the list differs from the one of the last
 * start, every source is read again, because rows of chats that were left out count as read. So do rows of the hub.
 * @param patterns names, ids and path globs
 */
export function excludeProjects(db: Mirror, patterns: readonly string[]): void {
  if (exclusions.has(db)) return
  const hash = createHash('sha256').update(JSON.stringify(patterns)).digest('hex')
  const before = prepared<string>(db, READ_LIST).pluck().get(EXCLUDED_URI)
  if (before !== hash && (before !== undefined || patterns.length > 0)) {
    db.transaction(() => {
      prepared(db, SAVE_LIST).run(EXCLUDED_URI, hash)
      prepared(db, FORGET_EVIDENCE).run(EXCLUDED_URI)
      if (before === undefined) return
      prepared(db, READ_ALL_AGAIN).run()
      wantUnmirrored(db)
    })()
  }
  exclusions.set(db, patterns)
}

/**
 * A change without the chats of excluded projects. Chats that are already mirrored stay as they are, and get nothing new. The
 * source's rows stay, so that they count as read: only their keys, sizes and checksums are stored.
 */
export function withoutExcluded(db: Mirror, change: Change): Change {
  const patterns = exclusions.get(db) ?? []
  if (patterns.length === 0) return change
  const isExcluded: IsExcluded = (root) => root.uri === EXCLUDED_URI || isOfProject(root, patterns)
  const judge = new Judge(db, change, isExcluded)
  const mayBeExcluded = listDoubtful(db, change, patterns)
  const doubtful = new Set([...mayBeExcluded].filter((id) => !judge.knowsProject(id)))
  const excludes = (id: ChatId): boolean => doubtful.has(id) || judge.excludes(id)
  const stays = ({ chatId }: { readonly chatId: ChatId }): boolean => !excludes(chatId)
  const nowhere = { uri: EXCLUDED_URI, path: '', name: '', remote: null }
  const barred = change.chats.filter(({ id }) => excludes(id))
  const followers = [...doubtful, ...barred.flatMap((chat) => [...childrenOf(chat)])]
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
    heads: change.heads.filter(stays),
    tracked: change.tracked.filter(stays),
    paths: change.paths.filter(stays),
  }
}

const NAMED_PROJECTS = `select uri, path, name from projects`

/** Chats in a folder of which only Cursor's name is known, if that could be the name of an excluded project. */
function listDoubtful(db: Mirror, { chats }: Change, patterns: readonly string[]): ReadonlySet<ChatId> {
  const slugs = new Set(chats.flatMap(({ slug }) => slug ?? []))
  if (slugs.size === 0) return new Set()
  const known = prepared<Named>(db, NAMED_PROJECTS)
    .all()
    .filter((project) => project.uri !== EXCLUDED_URI && isOfProject(project, patterns))
  const globs = [...patterns, ...known.map(({ path }) => path)]
  const doubtful = new Set([...slugs].filter((slug) => mayBeOfProject(slug, globs)))
  return new Set(chats.flatMap(({ id, slug }) => (slug !== undefined && doubtful.has(slug) ? id : [])))
}

/** A purge writes a chat so that its columns are computed again. */
const bringsNothing = ({ ownRow, messages, vanished }: ChatChange): boolean =>
  ownRow.kind === 'unread' && messages.length === 0 && vanished.length === 0

const STORED_EVIDENCE = `
select e.method, e.rank, e.noted_at as notedAtMs, p.uri, p.path, p.name
from evidence e join projects p on p.num = e.project
where e.chat_id = ?
`
const STORED_PROJECT = `select p.uri, p.path, p.name from chats c join projects p on p.num = c.project where c.id = ?`

type Named = Pick<Root, 'uri' | 'path' | 'name'>

interface Ranked {
  readonly rank: number
  readonly notedAtMs: number
  readonly root: Named
}

/** Decides by what the mirror and the change know together, in the order in which `placeChats` decides. */
class Judge {
  readonly #db: Mirror
  readonly #isExcluded: IsExcluded
  readonly #evidence = new Map<ChatId, EvidenceWrite[]>()
  readonly #parents = new Map<ChatId, ChatId>()
  readonly #nowMs: number
  readonly #verdicts = new Map<ChatId, boolean>()

  constructor(db: Mirror, { evidence, chats, heads, nowMs }: Change, isExcluded: IsExcluded) {
    this.#db = db
    this.#isExcluded = isExcluded
    this.#nowMs = nowMs
    for (const each of evidence) this.#evidence.set(each.chatId, [...(this.#evidence.get(each.chatId) ?? []), each])
    for (const chat of chats) for (const child of childrenOf(chat)) this.#parents.set(child, chat.id)
    for (const { chatId, parentChatId } of heads) if (parentChatId !== null) this.#parents.set(chatId, parentChatId)
    for (const { id, ownRow } of chats) {
      const parent = tellsFacts(ownRow) ? ownRow.facts.parentChatId : null
      if (parent !== null) this.#parents.set(id, parent)
    }
  }

  excludes(id: ChatId): boolean {
    const known = this.#verdicts.get(id)
    if (known !== undefined) return known
    // A chat may be its own ancestor.
    this.#verdicts.set(id, false)
    const verdict = this.#judge(id)
    this.#verdicts.set(id, verdict)
    return verdict
  }

  /** Whether something better than a transcript's folder names the project of the chat. */
  knowsProject(id: ChatId): boolean {
    return this.#ranked(id).some(({ rank }) => rank < TRANSCRIPT_RANK)
  }

  #judge(id: ChatId): boolean {
    const ranked = this.#ranked(id)
    const strong = ranked.find(({ rank }) => rank < PARENT_RANK)
    if (strong !== undefined) return this.#isExcluded(strong.root)
    const parent = this.#parents.get(id)
    if (parent !== undefined && this.excludes(parent)) return true
    const root = ranked[0]?.root ?? prepared<Named>(this.#db, STORED_PROJECT).get(id)
    return root !== undefined && this.#isExcluded(root)
  }

  #ranked(id: ChatId): readonly Ranked[] {
    const given = this.#evidence.get(id) ?? []
    const replaced = new Set(given.filter(({ isOnly }) => isOnly).map(({ method }) => method))
    const stored = prepared<Named & Omit<Ranked, 'root'> & { readonly method: string }>(this.#db, STORED_EVIDENCE).all(
      id,
    )
    return [
      ...given.map(({ rank, root, notedAtMs = this.#nowMs }) => ({ rank, notedAtMs, root })),
      ...stored.filter(({ method }) => !replaced.has(method)).map((row) => ({ ...row, root: row })),
    ].toSorted((a, b) => a.rank - b.rank || b.notedAtMs - a.notedAtMs)
  }
}

export interface ExcludedProject {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly chats: number
}

const MIRRORED_PROJECTS = `
select p.id, p.uri, p.name, p.path, count(*) as chats
from projects p join chats c on c.project = p.num
group by p.num order by p.path, p.id
`

/** The excluded projects of which the mirror has chats. */
export const listExcludedProjects = (db: Mirror, patterns: readonly string[]): readonly ExcludedProject[] =>
  prepared<ExcludedProject & Named>(db, MIRRORED_PROJECTS)
    .all()
    .filter((project) => isOfProject(project, patterns))
