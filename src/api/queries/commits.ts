import type { Mirror } from '../../mirror/open.ts'
import { confidences, type Commit } from '../../model/commit.ts'
import type { ApiContext } from '../context.ts'
import type { CommitReport, DescribedMatch } from '../answers/chats.ts'
import { bind, toIso } from './rows.ts'
import type { PageRequest } from '../answers/common.ts'
import type { Scope } from './scope.ts'
import { comparablePath, folderOf, isWithin, listProjectRoots } from './projects.ts'
import { prepared } from '../../mirror/sql.ts'
import { toolsByUse } from './files.ts'

/** A message or an edit of a chat or of one of its subagents, or code of the chat that Cursor recorded. */
interface TimedAct {
  readonly kind: 'message' | 'edit' | 'recorded'
  /** Row number of the chat. A subagent's acts are its parent's. */
  readonly num: number
  readonly id: string
  readonly title: string
  readonly projectNum: number
  /** Epoch milliseconds. An edit without its own time has the time of the end of the chat. */
  readonly atMs: number
  /** The file of an edit, as in the tool call: absolute, or relative to the root of the chat's project. */
  readonly path: string
}

const OWN_TIME = `m.created_at_source in ('message', 'header', 'timing')`

/**
 * Of messages, only own times count, not those of a neighbour or of the chat. Of tool calls, only paths are read. `cross join`
 * makes SQLite begin with the few chats: it would begin with all calls.
 */
const ACTS = `
  with active as materialized (
    select c.num, c.id, coalesce(p.num, c.num) as chat, coalesce(c.last_activity_at, c.created_at) as ended_at
    from chats c
    left join chats p
      on c.is_subagent = 1 and p.id = coalesce(c.parent_chat_id, (select min(parent_id) from chat_links where child_id = c.id))
    where c.project in (select value from json_each(@projects)) and c.is_draft = 0 and c.message_count > 0
      and coalesce(c.last_activity_at, c.created_at) >= @fromMs and coalesce(c.created_at, c.last_activity_at) <= @toMs
  ), acts as (
    select 'message' as kind, a.chat, m.created_at as atMs, '' as path
    from active a cross join messages m on m.chat = a.num
    where m.is_orphan = 0 and m.created_at between @fromMs and @toMs and ${OWN_TIME}
    union all
    select 'recorded', a.chat, time.value, ''
    from active a cross join tracked t on t.chat_id = a.id join json_each(json_array(t.first_at, t.last_at)) time
    where time.value between @fromMs and @toMs
    union all
    select 'edit', a.chat, iif(${OWN_TIME}, m.created_at, a.ended_at), u.path
    from active a cross join messages m on m.chat = a.num cross join calls u on u.body = m.body
    where m.is_orphan = 0 and m.tool_calls > 0 and (not ${OWN_TIME} or m.created_at between @fromMs and @toMs)
      and u.path is not null and u.status in ('completed', 'running') and u.tool in (select value from json_each(@editing))
  )
  select acts.kind, c.num, c.id, c.title, c.project as projectNum, acts.atMs, acts.path
  from acts join chats c on c.num = acts.chat order by acts.atMs
`

/** What the chats of some projects did in a period, in order. Both bounds are inclusive. */
const listActs = (db: Mirror, projects: readonly number[], fromMs: number, toMs: number): TimedAct[] =>
  prepared<TimedAct>(db, ACTS).all({ ...bind({ projects, fromMs, toMs }), ...toolsByUse(db) })

/** A score with zero chat lines means that the commit contains no code of any chat. */
const SCORED = `
  select distinct sha from scored_commits
  where sha in (select value from json_each(?)) and coalesce(chat_lines, 1) > 0
`

/** Which of these commits Cursor scored and found code of chats in. */
const readScoredCommits = (db: Mirror, shas: readonly string[]): ReadonlySet<string> =>
  new Set(prepared<string>(db, SCORED).pluck().all(JSON.stringify(shas)))

const DAY_MS = 24 * 3_600_000
/** How long before a commit its work begins, unless its parent is later. */
const WINDOW_MS = 30 * 60_000
/** An edit is never attributed to a commit that is later than this. */
const LATE_MS = 14 * DAY_MS
/** Git stores whole seconds: an edit within the second of the commit may be part of it. */
const REST_OF_SECOND_MS = 999
/** The files of at most this many commits are read. */
const TOUCHED_MAX = 3000
/** How many files are listed as evidence. A commit can have thousands. */
const PATHS_MAX = 50

type World = Pick<ApiContext, 'mirror' | 'histories'>

/** A chat that may have led to a commit. */
export interface CommitMatch extends DescribedMatch {
  /** Row number of the chat. */
  readonly num: number
}

/** The bounds are those of the committer date. */
export interface CommitReportRequest extends PageRequest, Pick<Scope, 'fromMs' | 'toMs'> {
  /** The folder of a project. */
  readonly folder: string
}

/** Commits of a repository, newest first, each with the chats that may have led to it. */
export async function reportCommits(world: World, request: CommitReportRequest): Promise<CommitReport> {
  const { folder, fromMs, toMs, limit, offset } = request
  const history = await world.histories.read(folder)
  // A commit without a time is in no range.
  const listed = history.filter(
    ({ committedAtMs: atMs }) =>
      (fromMs === null || (atMs ?? -Infinity) >= fromMs) && (toMs === null || (atMs ?? Infinity) < toMs),
  )
  const asked = listed.slice(offset, offset + limit)
  const matches = await matchCommits(world, { folder, history, asked })
  const items = asked.map(({ sha, committedAtMs, subject }) => ({
    sha,
    committedAt: toIso(committedAtMs),
    subject,
    chats: (matches.get(sha) ?? []).map(({ id, title, confidence, evidence }) => ({ id, title, confidence, evidence })),
  }))
  return { items, total: listed.length, limit, offset }
}

/**
 * The chats that may have led to a commit, the likeliest first.
 * @param name the first hex digits of its sha, or what git resolves, such as `HEAD`
 * @returns null if it names no commit of this repository, or several
 */
export async function chatsOfCommit(world: World, folder: string, name: string): Promise<CommitMatch[] | null> {
  const history = await world.histories.read(folder)
  const isSha = /^[\da-f]{4,64}$/i.test(name)
  // A branch with a name of hex digits is no commit.
  const sha = isSha ? name.toLowerCase() : await world.histories.resolve(folder, name)
  const asked = sha === null ? [] : history.filter((each) => each.sha.startsWith(sha))
  const [commit] = asked
  if (commit === undefined || asked.length > 1) return null
  return (await matchCommits(world, { folder, history, asked })).get(commit.sha) ?? []
}

interface AskedCommits {
  /** The folder of a project, in the repository of the commits. */
  readonly folder: string
  readonly history: readonly Commit[]
  /** A page of the history. */
  readonly asked: readonly Commit[]
}

/** A commit with the time of its work: after the start, up to and including the end, in epoch milliseconds. */
interface DatedCommit {
  readonly sha: string
  readonly startMs: number
  readonly endMs: number
  /** Names in git by comparable path. */
  readonly files: ReadonlyMap<string, string>
  /** By row number of a chat, what it did for this commit, in order. */
  readonly acts: Map<number, Some<TimedAct>>
}

/** Matches commits with the chats of all projects in a folder. @returns by sha, the likeliest chat first */
async function matchCommits(world: World, { folder, history, asked }: AskedCommits) {
  const db = world.mirror()
  const timesMs = asked.flatMap(({ madeAtMs }) => madeAtMs ?? [])
  const fromMs = Math.min(...timesMs) - LATE_MS
  const toMs = Math.max(...timesMs) + REST_OF_SECOND_MS
  // An edit belongs to the first commit that touched its file: so those between an edit and an asked commit decide too.
  const near = history.filter(({ madeAtMs: atMs }) => atMs !== null && atMs >= fromMs && atMs <= toMs)
  const dated = await dateCommits(world, { folder, history, asked: near.slice(0, TOUCHED_MAX) })
  const byPath = new Map<string, Some<DatedCommit>>()
  for (const commit of dated) for (const path of commit.files.keys()) append(byPath, path, commit)
  const shas = new Set(asked.map(({ sha }) => sha))
  const shown = dated.filter(({ sha }) => shas.has(sha))
  const scored = readScoredCommits(db, [...shas])
  const folders = foldersWithin(db, folder)
  for (const act of listActs(db, [...folders.keys()], fromMs, toMs)) {
    const { kind, atMs } = act
    const path = comparablePath(act.path, folders.get(act.projectNum) ?? folder)
    const first =
      kind === 'edit' ? byPath.get(path)?.find(({ endMs }) => endMs >= atMs && endMs - atMs <= LATE_MS) : null
    const commits = shown.filter((commit) => {
      if (kind === 'edit') return commit === first
      return atMs > commit.startMs && atMs <= commit.endMs && (kind === 'message' || scored.has(commit.sha))
    })
    for (const commit of commits) append(commit.acts, act.num, { ...act, path })
  }
  return new Map(shown.map((commit) => [commit.sha, matchesOf(commit)]))
}

/** The folders of the projects in a folder, by the project's row number. */
const foldersWithin = (db: Mirror, folder: string): ReadonlyMap<number, string> =>
  new Map(
    listProjectRoots(db)
      .filter(({ isHere, path }) => isHere === 1 && isWithin(path, folder))
      .map(({ num, path }) => [num, folderOf(path)]),
  )

type Some<Value> = [Value, ...Value[]]

function append<Key, Value>(lists: Map<Key, Some<Value>>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** In the order in which they were made. A commit without a time is left out. */
async function dateCommits({ histories }: World, { folder, history, asked }: AskedCommits): Promise<DatedCommit[]> {
  const touched = await histories.touched(folder, asked)
  const bySha = new Map(history.map((commit) => [commit.sha, commit]))
  const dated = asked.flatMap(({ sha, parent, madeAtMs }): DatedCommit[] => {
    if (madeAtMs === null) return []
    const parentAtMs = bySha.get(parent ?? '')?.madeAtMs ?? -Infinity
    const startMs = Math.max(madeAtMs - WINDOW_MS, parentAtMs < madeAtMs ? parentAtMs + REST_OF_SECOND_MS : -Infinity)
    const files = new Map((touched.get(sha) ?? []).map((name) => [comparablePath(name, folder), name]))
    return [{ sha, startMs, endMs: madeAtMs + REST_OF_SECOND_MS, files, acts: new Map() }]
  })
  // The history has the newest first. Of commits with the same time, the later in it was made first.
  return dated.reverse().sort((one, other) => one.endMs - other.endMs)
}

const likelihood = ({ confidence, evidence }: CommitMatch): number =>
  confidences.indexOf(confidence) * PATHS_MAX + (evidence.files?.paths.length ?? 0)

const matchesOf = (commit: DatedCommit): CommitMatch[] =>
  [...commit.acts.values()]
    .map((acts) => matchOf(acts, commit))
    .sort((one, other) => likelihood(other) - likelihood(one) || (one.id < other.id ? -1 : 1))

/**
 * Files decide: this commit is the first one with them, so it very likely has the chat's work if it is at most a day later.
 * Of recorded code the file is unknown. Time alone says little: people chat about one thing and commit another.
 */
function matchOf(acts: Some<TimedAct>, { endMs, files }: DatedCommit): CommitMatch {
  const of = (kind: TimedAct['kind']): readonly TimedAct[] => acts.filter((act) => act.kind === kind)
  const [messages, edits, recorded] = [of('message'), of('edit'), of('recorded')]
  const [{ num, id, title }] = acts
  const last = edits.at(-1)
  const paths = [...new Set(edits.map(({ path }) => files.get(path) ?? path))].sort().slice(0, PATHS_MAX)
  const evidence = {
    time: messages.length === 0 ? null : { messages: messages.length, ...spanOf(messages) },
    files: last === undefined ? null : { paths, lastEditAt: toIso(last.atMs) },
    tracking: recorded.length === 0 ? null : spanOf(recorded),
  }
  const isSure = last !== undefined && endMs - last.atMs <= DAY_MS
  const confidence = isSure ? 'high' : last !== undefined || recorded.length > 0 ? 'medium' : 'low'
  return { num, id, title, confidence, evidence }
}

const spanOf = (acts: readonly TimedAct[]) => ({
  from: toIso(acts[0]?.atMs ?? null),
  to: toIso(acts.at(-1)?.atMs ?? null),
})
