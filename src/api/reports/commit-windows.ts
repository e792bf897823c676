import type { Commit } from '../../model/commit.ts'

/** A stretch of work: after its start, up to its end, both epoch milliseconds. */
export interface Window {
  readonly startMs: number
  readonly endMs: number
}

export const isIn = (atMs: number, { startMs, endMs }: Window): boolean => atMs > startMs && atMs <= endMs

export interface DatedCommit {
  readonly commit: Commit
  /** The work of which the commit was first made. */
  readonly window: Window
  /** The work of which an amended commit was made anew; null where it was not, and for one that was only moved. */
  readonly amended: Window | null
}

/** All commits that were read: parents are among them, as far as the history was read. */
export type CommitsBySha = ReadonlyMap<string, Commit>

/** How long before a commit its work began, unless its parent is later. */
export const WINDOW_DEFAULT_MS = 30 * 60_000

/** Git keeps whole seconds: what happened in the second of the commit may have gone into it. */
const REST_OF_SECOND_MS = 999

/**
 * When each commit's work was done: from its parent on, at most so long before it. Author dates count, because a rebase
 * makes committer dates of today out of last week's work; and what an amending commit added was done before that.
 * A commit that has no time is left out.
 */
export function dateCommits(commits: readonly Commit[], windowMs: number, bySha: CommitsBySha): DatedCommit[] {
  return commits.flatMap((commit) => {
    const authoredAtMs = commit.authoredAtMs ?? commit.committedAtMs
    const committedAtMs = commit.committedAtMs ?? commit.authoredAtMs
    if (authoredAtMs === null || committedAtMs === null) return []
    const parents = commit.parents.flatMap((sha) => bySha.get(sha) ?? [])
    const bounds = parents.flatMap((parent) => [parent.authoredAtMs, parent.committedAtMs])
    const before = (madeAtMs: number): Window => {
      const earlier = bounds.filter((atMs) => atMs !== null && atMs < madeAtMs) as number[]
      const startMs = Math.max(madeAtMs - windowMs, ...earlier.map((atMs) => atMs + REST_OF_SECOND_MS))
      return { startMs, endMs: madeAtMs + REST_OF_SECOND_MS }
    }
    const isOnSameParent = parents.every(({ committedAtMs: atMs }) => atMs === null || atMs <= authoredAtMs)
    const amended = committedAtMs > authoredAtMs && isOnSameParent ? before(committedAtMs) : null
    return [{ commit, window: before(authoredAtMs), amended }]
  })
}
