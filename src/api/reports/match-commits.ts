import type { Mirror } from '../../mirror/open.ts'
import type { Commit, Histories, History } from '../../model/commit.ts'
import type { DescribedMatch } from '../http/schemas/commits.ts'
import { toIso } from '../iso.ts'
import {
  append,
  readChatActivity,
  readScoredCommits,
  type ChatActivity,
  type ChatEdit,
} from '../queries/chats/chat-activity.ts'
import { listProjectRoots } from '../queries/projects/project-roots.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { comparablePath, folderOf, isWithin } from './repository-paths.ts'

const DAY_MS = 24 * 3_600_000
/** How long before a commit its work begins, unless its parent is later. */
const WINDOW_MS = 30 * 60_000
/** An edit is never attributed to a commit that is later than this. */
const LATE_MS = 14 * DAY_MS
/** Git stores whole seconds: an edit within the second of the commit may be part of it. */
const REST_OF_SECOND_MS = 999
/** Besides the asked commits, the files of at most this many commits are read. */
const TOUCHED_MAX = 3000
/** How many files are listed as evidence. A commit can have thousands. */
const PATHS_MAX = 50

/** A chat that may have led to a commit. */
export interface CommitMatch extends DescribedMatch {
  /** Row number of the chat. */
  readonly num: number
}

export interface MatchAnswer {
  /** By sha, the likeliest chat first. */
  readonly matches: ReadonlyMap<string, readonly CommitMatch[]>
  /** Files by sha. */
  readonly touched: ReadonlyMap<string, readonly string[]>
}

/** When a commit was made. A rebase gives last week's work the committer date of today, so the author date counts. */
const madeAtOf = ({ authoredAtMs, committedAtMs }: Commit): number | null => authoredAtMs ?? committedAtMs

/** A commit with the time of its work: after the start, up to and including the end, in epoch milliseconds. */
interface DatedCommit {
  readonly sha: string
  readonly startMs: number
  readonly endMs: number
  /** Names in git by comparable path. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * Matches commits of one repository with the chats of all projects in it.
 * @param asked a page of the history
 */
export async function matchCommits(
  db: Mirror,
  histories: Histories,
  history: History,
  asked: readonly Commit[],
): Promise<MatchAnswer> {
  const endsMs = asked.flatMap((commit) => madeAtOf(commit) ?? [])
  const fromMs = Math.min(...endsMs) - LATE_MS
  const toMs = Math.max(...endsMs) + REST_OF_SECOND_MS
  const matches = new Map(asked.map(({ sha }) => [sha, new Array<CommitMatch>()]))
  const { chats, scored } = readWork(db, history, { fromMs, toMs, shas: [...matches.keys()] })
  // An edit belongs to the first commit that touched its file: so those between an edit and an asked commit decide too.
  const between = history.commits.filter((commit) => {
    const atMs = madeAtOf(commit)
    return !matches.has(commit.sha) && atMs !== null && atMs >= fromMs && atMs <= toMs
  })
  const commits = [...asked, ...between.slice(0, TOUCHED_MAX)]
  const touched = await histories.touched(history, commits)
  const dated = dateCommits(commits, history, touched)
  const byPath = new Map<string, DatedCommit[]>()
  for (const commit of dated) for (const path of commit.files.keys()) append(byPath, path, commit)
  for (const chat of chats) {
    const edits = attributeEdits(chat.edits, byPath)
    for (const commit of dated) {
      const list = matches.get(commit.sha)
      if (list === undefined) continue
      const match = matchOne(chat, commit, edits.get(commit) ?? [], scored.has(commit.sha))
      if (match !== null) list.push(match)
    }
  }
  for (const list of matches.values())
    list.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
  return { matches, touched }
}

/** What the chats of all projects in the repository did in a period. The paths of their edits are comparable. */
const readWork = (
  db: Mirror,
  { top }: History,
  { shas, ...period }: { readonly fromMs: number; readonly toMs: number; readonly shas: readonly string[] },
) =>
  inSnapshot(db, () => {
    const folders = listProjectRoots(db)
      .filter(({ remote }) => remote === null)
      .map(({ num, path }) => [num, folderOf(path)] as const)
      .filter(([, folder]) => isWithin(comparablePath(folder, folder), comparablePath(top, top)))
    const folderByNum = new Map(folders)
    const chats = readChatActivity(db, { projectNums: [...folderByNum.keys()], ...period }).map((chat) => {
      const folder = folderByNum.get(chat.projectNum) ?? top
      return { ...chat, edits: chat.edits.map(({ path, atMs }) => ({ path: comparablePath(path, folder), atMs })) }
    })
    return { chats, scored: readScoredCommits(db, shas) }
  })

/** In the order in which they were made. A commit without a time is left out. */
function dateCommits(
  commits: readonly Commit[],
  history: History,
  touched: MatchAnswer['touched'],
): readonly DatedCommit[] {
  const bySha = new Map(history.commits.map((commit) => [commit.sha, commit]))
  const dated = commits.flatMap((commit): DatedCommit[] => {
    const madeAtMs = madeAtOf(commit)
    if (madeAtMs === null) return []
    const parent = bySha.get(commit.parent ?? '')
    const parentAtMs = (parent && madeAtOf(parent)) ?? -Infinity
    const startMs = Math.max(madeAtMs - WINDOW_MS, parentAtMs < madeAtMs ? parentAtMs + REST_OF_SECOND_MS : -Infinity)
    const names = touched.get(commit.sha) ?? []
    const files = new Map(names.map((name) => [comparablePath(name, history.top), name]))
    return [{ sha: commit.sha, startMs, endMs: madeAtMs + REST_OF_SECOND_MS, files }]
  })
  // The history has the newest first. Of commits with the same time, the later in it was made first.
  return dated.reverse().sort((one, other) => one.endMs - other.endMs)
}

/** By commit, its edits: an edit belongs to the first later commit that touched its file, and to no other. */
function attributeEdits(
  edits: readonly ChatEdit[],
  byPath: ReadonlyMap<string, readonly DatedCommit[]>,
): ReadonlyMap<DatedCommit, readonly ChatEdit[]> {
  const attributed = new Map<DatedCommit, ChatEdit[]>()
  for (const edit of edits) {
    const first = byPath.get(edit.path)?.find(({ endMs }) => endMs >= edit.atMs)
    if (first !== undefined && first.endMs - edit.atMs <= LATE_MS) append(attributed, first, edit)
  }
  return attributed
}

type Judgement = Pick<CommitMatch, 'confidence' | 'score'>

/** People chat about one thing and commit another. */
const BY_TIME: Judgement = { confidence: 'low', score: 0.3 }
/** Code was written then, but the file is unknown. */
const BY_TRACKING: Judgement = { confidence: 'medium', score: 0.5 }

/**
 * @param edits those that this commit is the first to include
 * @param isScored whether Cursor found code of chats in the commit
 */
function matchOne(
  chat: ChatActivity,
  commit: DatedCommit,
  edits: readonly ChatEdit[],
  isScored: boolean,
): CommitMatch | null {
  const times = within(chat.timesMs, commit)
  const tracked = isScored ? within(chat.trackedMs, commit) : []
  if (edits.length === 0 && times.length === 0 && tracked.length === 0) return null
  const { files, ...byFiles } = edits.length === 0 ? { files: null } : judgeFiles(edits, commit)
  const evidence = {
    time: times.length === 0 ? null : { messages: times.length, ...spanOf(times) },
    files,
    tracking: tracked.length === 0 ? null : spanOf(tracked),
  }
  const judgement = { ...(tracked.length === 0 ? BY_TIME : BY_TRACKING), ...byFiles }
  return { num: chat.num, id: chat.id, title: chat.title, ...judgement, evidence }
}

const within = (timesMs: readonly number[], { startMs, endMs }: DatedCommit): readonly number[] =>
  (timesMs.at(-1) ?? -Infinity) <= startMs ? [] : timesMs.filter((atMs) => atMs > startMs && atMs <= endMs)

const spanOf = (timesMs: readonly number[]) => ({ from: toIso(timesMs[0] ?? null), to: toIso(timesMs.at(-1) ?? null) })

const rounded = (share: number): number => Math.round(share * 100) / 100

/**
 * Files decide. High: the chat edited files of the commit within its window, or it edited all files of the commit at
 * most a day before. Medium: it edited some of them before, the longer ago, the lower the score.
 */
function judgeFiles(
  edits: readonly ChatEdit[],
  commit: DatedCommit,
): Judgement & { readonly files: CommitMatch['evidence']['files'] } {
  const paths = [...new Set(edits.map(({ path }) => commit.files.get(path) ?? path))].sort()
  const share = paths.length / commit.files.size
  const lastAtMs = edits.reduce((last, { atMs }) => Math.max(last, atMs), -Infinity)
  const waitedMs = Math.max(0, commit.startMs - lastAtMs)
  const when = lastAtMs > commit.startMs ? 'in-window' : 'earlier'
  const files = { paths: paths.slice(0, PATHS_MAX), share: rounded(share), lastEditAt: toIso(lastAtMs), when } as const
  const isSure = when === 'in-window' || (waitedMs <= DAY_MS && share === 1)
  if (isSure) return { confidence: 'high', score: rounded(0.8 + 0.15 * share), files }
  return { confidence: 'medium', score: rounded(0.55 + 0.1 * share + 0.1 * (1 - waitedMs / LATE_MS)), files }
}
