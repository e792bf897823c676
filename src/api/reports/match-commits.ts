import type { ChatActivity } from '../queries/chats/chat-activity.ts'
import {
  isIn,
  type DatedCommit,
  type Window,
  attributeEdits,
  commitsByPath,
  type RepositoryEdit,
  type TouchedNames,
} from './attribute-edits.ts'
import { judge, type CommitMatch, type Evidence, type FileEvidence } from './judge-match.ts'

export interface MatchInput {
  /** All commits with known files: the wanted ones, and those that may have been made before them. */
  readonly commits: readonly DatedCommit[]
  readonly touched: TouchedNames
  /** By sha, how many files it touched. `touched` lists fewer for a commit with thousands of files. */
  readonly fileCounts: ReadonlyMap<string, number>
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
export function matchCommits(input: MatchInput): Map<string, CommitMatch[]> {
  const byPath = commitsByPath(input.commits, input.touched)
  const matches = new Map<string, CommitMatch[]>()
  for (const chat of input.chats) {
    const edits = editsOf(chat, input)
    const attributed = attributeEdits(edits, byPath, input.touched)
    const known = [...attributed].flatMap(([{ window }, some]) =>
      some.some(({ atMs }) => isIn(atMs, window)) ? [window] : [],
    )
    for (const dated of input.commits) {
      if (!input.asked.has(dated.commit.sha)) continue
      const match = matchOne(chat, dated, { input, edits, attributed: attributed.get(dated) ?? [], known })
      if (match === null) continue
      const list = matches.get(dated.commit.sha)
      if (list === undefined) matches.set(dated.commit.sha, [match])
      else list.push(match)
    }
  }
  for (const list of matches.values())
    list.sort((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1))
  return matches
}

interface Found {
  readonly input: MatchInput
  readonly edits: readonly RepositoryEdit[]
  /** Edits that this commit is the first to include. */
  readonly attributed: readonly RepositoryEdit[]
  /** Windows of the commits that include an edit made by the chat within the window. */
  readonly known: readonly Window[]
}

function matchOne(
  chat: ChatActivity,
  dated: DatedCommit,
  { input, edits, attributed, known }: Found,
): CommitMatch | null {
  const { sha } = dated.commit
  const time = timeIn(chat, dated.window)
  const tracked = input.scored.has(sha) ? within(chat.trackedMs, dated.window) : []
  const touched = input.touched.get(sha)
  const files: FileEvidence | null =
    attributed.length === 0 || touched === undefined
      ? null
      : fileEvidence(attributed, dated, Math.max(touched.size, input.fileCounts.get(sha) ?? 0))
  const inside = [...within(chat.timesMs, dated.window), ...tracked]
  const isThen = time !== null || tracked.length > 0
  if (files === null && (!isThen || isAccountedFor(inside, known))) return null
  const evidence: Evidence = {
    time,
    branch: chat.branch === null ? null : branchEvidence(input.isOnBranch(chat.branch, sha)),
    files,
    tracking: spanOf(tracked),
    editedElsewhere: files === null && edits.some(({ atMs }) => isIn(atMs, dated.window)),
  }
  return { num: chat.num, id: chat.id, title: chat.title, ...judge(evidence), evidence }
}

const branchEvidence = (isOn: boolean | null): Evidence['branch'] => (isOn === null ? null : isOn ? 'same' : 'other')

function timeIn(chat: ChatActivity, window: Window): Evidence['time'] {
  const inside = within(chat.timesMs, window)
  const span = spanOf(inside)
  if (span !== null) return { messages: inside.length, ...span }
  if (chat.timesMs.length > 0 || chat.startedAtMs === null || chat.endedAtMs === null) return null
  // The messages have no times of their own: only the chat's start and end are known.
  const isThere = chat.startedAtMs <= window.endMs && chat.endedAtMs > window.startMs
  return isThere ? { messages: null, firstAtMs: chat.startedAtMs, lastAtMs: chat.endedAtMs } : null
}

/** @param timesMs ascending */
const within = (timesMs: readonly number[], { startMs, endMs }: Window): readonly number[] =>
  timesMs.slice(countUpTo(timesMs, startMs), countUpTo(timesMs, endMs))

function spanOf(timesMs: readonly number[]): { readonly firstAtMs: number; readonly lastAtMs: number } | null {
  const [firstAtMs, lastAtMs] = [timesMs[0], timesMs.at(-1)]
  return firstAtMs === undefined || lastAtMs === undefined ? null : { firstAtMs, lastAtMs }
}

/**
 * Whether all of these times are in windows of commits that the chat is known to have led to. Windows overlap if several
 * branches or people work at the same time. If all of the chat's activity is explained by one commit, time alone does
 * not connect the chat to another.
 */
function isAccountedFor(timesMs: readonly number[], known: readonly Window[]): boolean {
  return timesMs.length > 0 && timesMs.every((atMs) => known.some((window) => isIn(atMs, window)))
}

/** How many of these ascending times are at or before a time. */
function countUpTo(timesMs: readonly number[], atMs: number): number {
  let [low, high] = [0, timesMs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timesMs[middle] ?? Infinity) <= atMs) low = middle + 1
    else high = middle
  }
  return low
}

function fileEvidence(
  attributed: readonly RepositoryEdit[],
  { window, amended }: DatedCommit,
  touched: number,
): FileEvidence {
  const paths = [...new Set(attributed.map(({ path }) => path))].sort()
  const lastEditAtMs = Math.max(...attributed.map(({ atMs }) => atMs))
  const isInWindow = attributed.some(({ atMs }) => isIn(atMs, window))
  const isAmended = !isInWindow && amended !== null && attributed.some(({ atMs }) => atMs > window.endMs)
  const waitedMs = isInWindow || isAmended ? 0 : Math.max(0, window.startMs - lastEditAtMs)
  return {
    paths,
    share: Math.min(1, paths.length / Math.max(1, touched)),
    lastEditAtMs,
    waitedMs,
    isInWindow,
    isAmended,
  }
}

/** An edit without its own time is dated to the end of the chat. */
function editsOf(chat: ChatActivity, { pathOf }: MatchInput): RepositoryEdit[] {
  return chat.edits.flatMap(({ path, atMs }) => {
    const inRepository = pathOf(chat, path)
    const whenMs = atMs ?? chat.endedAtMs
    return inRepository === null || whenMs === null ? [] : [{ path: inRepository, atMs: whenMs }]
  })
}
