import type { Commit, TouchedFiles } from '../../model/commit.ts'
import { toIso } from '../iso.ts'
import { append, type ChatActivity } from '../queries/chats/chat-activity.ts'
import { judge, type CommitMatch } from './judge-match.ts'

/** A period of work: after its start, up to and including its end, both in epoch milliseconds. */
export interface Window {
  readonly startMs: number
  readonly endMs: number
}

const isIn = (atMs: number, { startMs, endMs }: Window): boolean => atMs > startMs && atMs <= endMs

export interface DatedCommit {
  readonly commit: Commit
  /** When its work was done. */
  readonly window: Window
}

/** How long before a commit its work begins, unless its parent is later. */
export const WINDOW_DEFAULT_MS = 30 * 60_000
/** An edit is never attributed to a commit that is later than this. */
export const LATE_MS = 14 * 24 * 3_600_000
/** Git stores whole seconds: an edit within the second of the commit may be part of it. */
const REST_OF_SECOND_MS = 999

/** When a commit was made. A rebase gives last week's work the committer date of today, so the author date counts. */
export const madeAtOf = ({ authoredAtMs, committedAtMs }: Commit): number | null => authoredAtMs ?? committedAtMs

/** The work of a commit was done after its parent, and at most `windowMs` before it. A commit without a time is left out. */
export function dateCommits(commits: readonly Commit[], windowMs: number, bySha: ReadonlyMap<string, Commit>) {
  return commits.flatMap((commit): DatedCommit[] => {
    const madeAtMs = madeAtOf(commit)
    if (madeAtMs === null) return []
    const parents = commit.parents.flatMap((sha) => bySha.get(sha) ?? []).map((parent) => madeAtOf(parent) ?? Infinity)
    const earlier = parents.filter((atMs) => atMs < madeAtMs).map((atMs) => atMs + REST_OF_SECOND_MS)
    const startMs = Math.max(madeAtMs - windowMs, ...earlier)
    return [{ commit, window: { startMs, endMs: madeAtMs + REST_OF_SECOND_MS } }]
  })
}

/** An edit with its path as in git. */
interface Edit {
  readonly path: string
  readonly atMs: number
}

export interface MatchInput {
  /** All commits with known files: the wanted ones, and those that may have been made before them. */
  readonly commits: readonly DatedCommit[]
  /** By sha, the files of each commit. If one is missing, its files are unknown. */
  readonly touched: ReadonlyMap<string, TouchedFiles>
  readonly asked: ReadonlySet<string>
  readonly chats: readonly ChatActivity[]
  /** Commits in which Cursor found code from chats. */
  readonly scored: ReadonlySet<string>
  /** The path as in git; null if it is outside the repository. */
  readonly pathOf: (chat: ChatActivity, path: string) => string | null
  /** Whether a commit is reachable from a branch; null if unknown. */
  readonly isOnBranch: (branch: string, sha: string) => boolean | null
}

/** By sha, the chats that may have led to the commit, the likeliest first. */
export function matchCommits(input: MatchInput): ReadonlyMap<string, readonly CommitMatch[]> {
  const wanted = input.commits.filter(({ commit }) => input.asked.has(commit.sha))
  const matches = new Map(wanted.map(({ commit }) => [commit.sha, new Array<CommitMatch>()]))
  const byPath = commitsByPath(input)
  for (const chat of input.chats) {
    // An edit without its own time is dated to the end of the chat.
    const edits = chat.edits.flatMap(({ path, atMs }): Edit[] => {
      const [inRepository, whenMs] = [input.pathOf(chat, path), atMs ?? chat.endedAtMs]
      return inRepository === null || whenMs === null ? [] : [{ path: inRepository, atMs: whenMs }]
    })
    const attributed = attributeEdits(edits, byPath, input)
    const known = [...attributed]
      .filter(([{ window }, some]) => some.some(({ atMs }) => isIn(atMs, window)))
      .map(([{ window }]) => window)
    for (const dated of wanted) {
      const match = matchOne({ chat, dated, input, edits, attributed: attributed.get(dated) ?? [], known })
      if (match !== null) matches.get(dated.commit.sha)?.push(match)
    }
  }
  for (const list of matches.values())
    list.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
  return matches
}

type CommitsByPath = ReadonlyMap<string, readonly DatedCommit[]>

/** By path: the commits that touched it, in the order in which they were made. A copy comes after its original. */
function commitsByPath({ commits, touched }: MatchInput): CommitsByPath {
  const byPath = new Map<string, DatedCommit[]>()
  const committedAt = ({ commit }: DatedCommit): number => commit.committedAtMs ?? 0
  const inOrder = (one: DatedCommit, other: DatedCommit): number =>
    one.window.endMs - other.window.endMs || committedAt(one) - committedAt(other)
  for (const dated of commits.toSorted(inOrder)) {
    for (const path of touched.get(dated.commit.sha)?.names ?? []) append(byPath, path, dated)
  }
  return byPath
}

/**
 * By commit, the edits that it was the first to include: an edit belongs to the first later commit that touched its file,
 * and to no other. If several people or branches worked at the same time, the edit is in the windows of several commits.
 * Then it belongs to the one that includes most of the files that the chat edited.
 */
function attributeEdits(edits: readonly Edit[], byPath: CommitsByPath, { touched }: MatchInput) {
  const covered = new Map<DatedCommit, number>()
  const countCovered = (dated: DatedCommit): number => {
    const files = touched.get(dated.commit.sha)?.names ?? new Set<string>()
    const held = edits.filter(({ path, atMs }) => atMs <= dated.window.endMs && files.has(path))
    return new Set(held.map(({ path }) => path)).size
  }
  const coverage = (dated: DatedCommit | undefined): number => {
    if (dated === undefined) return -1
    const count = covered.get(dated) ?? countCovered(dated)
    covered.set(dated, count)
    return count
  }
  const attributed = new Map<DatedCommit, Edit[]>()
  for (const edit of edits) {
    const commits = byPath.get(edit.path) ?? []
    const around = commits.filter(({ window }) => isIn(edit.atMs, window))
    const first =
      around[0] ?? commits.find(({ window }) => window.endMs >= edit.atMs && window.endMs - edit.atMs <= LATE_MS)
    const chosen = around.reduce((best, each) => (coverage(each) > coverage(best) ? each : best), first)
    if (chosen !== undefined) append(attributed, chosen, edit)
  }
  return attributed
}

interface Found {
  readonly chat: ChatActivity
  readonly dated: DatedCommit
  readonly input: MatchInput
  readonly edits: readonly Edit[]
  /** Edits that this commit is the first to include. */
  readonly attributed: readonly Edit[]
  /** Windows of the commits that include an edit made by the chat within the window. */
  readonly known: readonly Window[]
}

function matchOne({ chat, dated, input, edits, attributed, known }: Found): CommitMatch | null {
  const { window, commit } = dated
  const time = timeIn(chat, window)
  const tracked = input.scored.has(commit.sha) ? within(chat.trackedMs, window) : []
  const files = filesOf(attributed, window)
  if (files === null) {
    const inside = [...within(chat.timesMs, window), ...tracked]
    // Windows overlap if several branches or people work at the same time. If all of the chat's activity is explained by
    // other commits, time alone does not connect it to this one.
    const isAccountedFor = inside.length > 0 && inside.every((atMs) => known.some((each) => isIn(atMs, each)))
    if ((time === null && tracked.length === 0) || isAccountedFor) return null
  }
  const { names, count = 0 } = input.touched.get(commit.sha) ?? {}
  const share = Math.min(1, (files?.paths.length ?? 0) / Math.max(1, names?.size ?? 0, count))
  const isOn = chat.branch === null ? null : input.isOnBranch(chat.branch, commit.sha)
  const evidence: CommitMatch['evidence'] = {
    time,
    branch: isOn === null ? null : isOn ? 'same' : 'other',
    files: files === null ? null : { ...files.shown, share: Math.round(share * 100) / 100 },
    tracking: tracked.length === 0 ? null : spanOf(tracked),
    editedElsewhere: files === null && edits.some(({ atMs }) => isIn(atMs, window)),
  }
  const judgement = judge(evidence, { share, waitedMs: files?.waitedMs ?? 0 })
  return { num: chat.num, id: chat.id, title: chat.title, ...judgement, evidence }
}

function timeIn(chat: ChatActivity, window: Window): CommitMatch['evidence']['time'] {
  const inside = within(chat.timesMs, window)
  if (inside.length > 0) return { messages: inside.length, ...spanOf(inside) }
  const { timesMs, startedAtMs, endedAtMs } = chat
  if (timesMs.length > 0 || startedAtMs === null || endedAtMs === null) return null
  // The messages have no times of their own: only the chat's start and end are known.
  const isThere = startedAtMs <= window.endMs && endedAtMs > window.startMs
  return isThere ? { messages: null, ...spanOf([startedAtMs, endedAtMs]) } : null
}

const spanOf = (timesMs: readonly number[]) => ({ from: toIso(timesMs[0] ?? null), to: toIso(timesMs.at(-1) ?? null) })

/** @param timesMs ascending */
const within = (timesMs: readonly number[], { startMs, endMs }: Window): readonly number[] =>
  timesMs.slice(countUpTo(timesMs, startMs), countUpTo(timesMs, endMs))

/** How many of these ascending times are at or before a time. A chat can have thousands, and is compared with each commit. */
function countUpTo(timesMs: readonly number[], atMs: number): number {
  let [low, high] = [0, timesMs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timesMs[middle] ?? Infinity) <= atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** How many files are listed. A commit can have thousands. */
const PATHS_MAX = 50

/** What is known of the files that a chat edited for a commit; null if there are none. */
function filesOf(edits: readonly Edit[], window: Window) {
  if (edits.length === 0) return null
  const paths = [...new Set(edits.map(({ path }) => path))].sort()
  const lastEditAtMs = edits.reduce((last, { atMs }) => Math.max(last, atMs), -Infinity)
  const when = edits.some(({ atMs }) => isIn(atMs, window)) ? ('in-window' as const) : ('earlier' as const)
  const shown = { paths: paths.slice(0, PATHS_MAX), lastEditAt: toIso(lastEditAtMs), when }
  return { paths, shown, waitedMs: Math.max(0, window.startMs - lastEditAtMs) }
}
