import type { Mirror } from '../../mirror/open.ts'
import type { Commit, Histories, History } from '../../model/commit.ts'
import type { DescribedMatch } from '../http/schemas/commits.ts'
import { toIso } from '../iso.ts'
import { append, readChatActivity, readScoredCommits, type ChatActivity } from '../queries/chats/chat-activity.ts'
import { listProjectRoots } from '../queries/projects/project-roots.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { comparablePath, folderOf, isWithin } from './repository-paths.ts'

const DAY_MS = 24 * 3_600_000
/** How long before a commit its work begins, unless its parent is later. */
const WINDOW_MS = 30 * 60_000
/** An edit is never attributed to a commit that is later than this. */
export const LATE_MS = 14 * DAY_MS
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
export const madeAtOf = ({ authoredAtMs, committedAtMs }: Commit): number | null => authoredAtMs ?? committedAtMs

/** A commit with the time of its work: after the start, up to and including the end, in epoch milliseconds. */
interface DatedCommit {
  readonly sha: string
  readonly startMs: number
  readonly endMs: number
  /** Names in git by comparable path. */
  readonly files: ReadonlyMap<string, string>
}

/** An edit in a comparable path. */
interface Edit {
  readonly path: string
  readonly atMs: number
}

/**
 * Matches commits of one repository with the chats of all projects in it.
 * @param asked a part of the history
 */
export async function matchCommits(
  db: Mirror,
  histories: Histories,
  history: History,
  asked: readonly Commit[],
): Promise<MatchAnswer> {
  const endsMs = asked.flatMap((commit) => madeAtOf(commit) ?? [])
  const fromMs = endsMs.reduce((first, atMs) => Math.min(first, atMs), Infinity) - LATE_MS
  const toMs = endsMs.reduce((last, atMs) => Math.max(last, atMs), -Infinity) + REST_OF_SECOND_MS
  const shas = new Set(asked.map(({ sha }) => sha))
  const { chats, editsOf, scored } = readWork(db, history, { fromMs, toMs, shas })
  // An edit belongs to the first commit that touched its file: so those between an edit and an asked commit decide too.
  const between = history.commits.filter((commit) => {
    const atMs = madeAtOf(commit)
    return !shas.has(commit.sha) && atMs !== null && atMs >= fromMs && atMs <= toMs
  })
  const commits = [...asked, ...between.slice(0, TOUCHED_MAX)]
  const touched = await histories.touched(history, commits)
  const dated = dateCommits(commits, history, touched)
  const byPath = groupByPath(dated)
  const matches = new Map([...shas].map((sha) => [sha, new Array<CommitMatch>()]))
  for (const chat of chats) {
    const attributed = attributeEdits(editsOf(chat), byPath)
    for (const commit of dated) {
      if (!shas.has(commit.sha)) continue
      const tracked = scored.has(commit.sha) ? within(chat.trackedMs, commit) : []
      const match = matchOne(chat, commit, { edits: attributed.get(commit) ?? [], tracked })
      if (match !== null) matches.get(commit.sha)?.push(match)
    }
  }
  for (const list of matches.values())
    list.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
  return { matches, touched }
}

/** What the chats of all projects in the repository did in a period. */
function readWork(
  db: Mirror,
  { top }: History,
  { fromMs, toMs, shas }: { readonly fromMs: number; readonly toMs: number; readonly shas: ReadonlySet<string> },
) {
  return inSnapshot(db, () => {
    const here = listProjectRoots(db).filter(({ remote }) => remote === null)
    const folders = new Map(here.map(({ num, path }) => [num, folderOf(path)]))
    for (const [num, folder] of folders) {
      if (!isWithin(comparablePath(folder, folder), comparablePath(top, top))) folders.delete(num)
    }
    const editsOf = ({ projectNum, edits }: ChatActivity): Edit[] =>
      edits.map(({ path, atMs }) => ({ path: comparablePath(path, folders.get(projectNum) ?? top), atMs }))
    const chats = readChatActivity(db, { projectNums: [...folders.keys()], fromMs, toMs })
    return { chats, editsOf, scored: readScoredCommits(db, [...shas]) }
  })
}

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
    const parent = commit.parent === null ? undefined : bySha.get(commit.parent)
    const parentAtMs = (parent && madeAtOf(parent)) ?? -Infinity
    const startMs = Math.max(madeAtMs - WINDOW_MS, parentAtMs < madeAtMs ? parentAtMs + REST_OF_SECOND_MS : -Infinity)
    const names = touched.get(commit.sha) ?? []
    const files = new Map(names.map((name) => [comparablePath(name, history.top), name]))
    return [{ sha: commit.sha, startMs, endMs: madeAtMs + REST_OF_SECOND_MS, files }]
  })
  // The history has the newest first. Of commits with the same time, the later in it was made first.
  return dated.reverse().sort((one, other) => one.endMs - other.endMs)
}

/** The commits that touched each path, in their order. */
function groupByPath(dated: readonly DatedCommit[]): ReadonlyMap<string, readonly DatedCommit[]> {
  const byPath = new Map<string, DatedCommit[]>()
  for (const commit of dated) for (const path of commit.files.keys()) append(byPath, path, commit)
  return byPath
}

/** By commit, its edits: an edit belongs to the first later commit that touched its file, and to no other. */
function attributeEdits(edits: readonly Edit[], byPath: ReturnType<typeof groupByPath>): Map<DatedCommit, Edit[]> {
  const attributed = new Map<DatedCommit, Edit[]>()
  for (const edit of edits) {
    const first = byPath.get(edit.path)?.find(({ endMs }) => endMs >= edit.atMs)
    if (first !== undefined && first.endMs - edit.atMs <= LATE_MS) append(attributed, first, edit)
  }
  return attributed
}

interface Work {
  /** Edits that this commit is the first to include. */
  readonly edits: readonly Edit[]
  /** When Cursor recorded code of the chat within the window, if Cursor found code of chats in the commit. */
  readonly tracked: readonly number[]
}

function matchOne(chat: ChatActivity, commit: DatedCommit, { edits, tracked }: Work): CommitMatch | null {
  const inWindow = within(chat.timesMs, commit)
  if (edits.length === 0 && inWindow.length === 0 && tracked.length === 0) return null
  const paths = [...new Set(edits.map(({ path }) => commit.files.get(path) ?? path))].sort()
  const share = paths.length / Math.max(1, commit.files.size)
  const lastEditAtMs = edits.reduce((last, { atMs }) => Math.max(last, atMs), -Infinity)
  const when = lastEditAtMs > commit.startMs ? ('in-window' as const) : ('earlier' as const)
  const shown = { paths: paths.slice(0, PATHS_MAX), share: rounded(share), lastEditAt: toIso(lastEditAtMs), when }
  const evidence: CommitMatch['evidence'] = {
    time: inWindow.length === 0 ? null : { messages: inWindow.length, ...spanOf(inWindow) },
    files: edits.length === 0 ? null : shown,
    tracking: tracked.length === 0 ? null : spanOf(tracked),
  }
  const judgement = judge(evidence, { share, waitedMs: Math.max(0, commit.startMs - lastEditAtMs) })
  return { num: chat.num, id: chat.id, title: chat.title, ...judgement, evidence }
}

const within = (timesMs: readonly number[], { startMs, endMs }: DatedCommit): readonly number[] =>
  (timesMs.at(-1) ?? -Infinity) <= startMs ? [] : timesMs.filter((atMs) => atMs > startMs && atMs <= endMs)

const spanOf = (timesMs: readonly number[]) => ({ from: toIso(timesMs[0] ?? null), to: toIso(timesMs.at(-1) ?? null) })

const rounded = (share: number): number => Math.round(share * 100) / 100

/** How the files that a chat edited fit a commit. */
interface FileFit {
  /** Their share of all files of the commit; 0 to 1. */
  readonly share: number
  /** Milliseconds from the last edit to the commit's window. */
  readonly waitedMs: number
}

/**
 * Files decide. High: the chat edited files of the commit within its window, or it edited all files of the commit at
 * most a day before. Medium: it edited some of them before, the longer ago, the lower the score; or Cursor recorded code
 * of the chat at that time: code was written then, but the file is unknown. Time alone is low, because people chat about
 * one thing and commit another.
 */
function judge({ files, tracking }: CommitMatch['evidence'], fit: FileFit): Pick<CommitMatch, 'confidence' | 'score'> {
  if (files === null) {
    return tracking === null ? { confidence: 'low', score: 0.3 } : { confidence: 'medium', score: 0.5 }
  }
  const isSure = files.when === 'in-window' || (fit.waitedMs <= DAY_MS && fit.share === 1)
  if (isSure) return { confidence: 'high', score: rounded(0.8 + 0.15 * fit.share) }
  return { confidence: 'medium', score: rounded(0.55 + 0.1 * fit.share + 0.1 * (1 - fit.waitedMs / LATE_MS)) }
}
