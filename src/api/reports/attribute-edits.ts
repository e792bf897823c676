import type { Commit } from '../../model/commit.ts'

/** A period of work: after its start, up to and including its end, both in epoch milliseconds. */
export interface Window {
  readonly startMs: number
  readonly endMs: number
}

export const isIn = (atMs: number, { startMs, endMs }: Window): boolean => atMs > startMs && atMs <= endMs

export interface DatedCommit {
  readonly commit: Commit
  /** The work that went into the first version of the commit. */
  readonly window: Window
  /** The work that amended the commit; null if it was not amended, or only rebased. */
  readonly amended: Window | null
}

/** All commits that were read, with their parents as far as the history was read. */
export type CommitsBySha = ReadonlyMap<string, Commit>

/** How long before a commit its work begins, unless its parent is later. */
export const WINDOW_DEFAULT_MS = 30 * 60_000

/** Git stores whole seconds: an edit within the second of the commit may be part of it. */
const REST_OF_SECOND_MS = 999

/**
 * When the work of each commit was done: after its parent, and at most `windowMs` before it. Author dates count, because
 * a rebase gives last week's work the committer date of today. The work of an amendment was done before the committer
 * date. A commit without a time is left out.
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

/** An edit is never attributed to a commit that is later than this. */
export const LATE_MS = 14 * 24 * 3_600_000

/** An edit with its path as in git. */
export interface RepositoryEdit {
  readonly path: string
  readonly atMs: number
}

/** By sha: the files of a commit, with old and new names. If a commit is missing, its files are unknown. */
export type TouchedNames = ReadonlyMap<string, ReadonlySet<string>>

/** By path: the commits that touched it, in the order in which they were made. */
type CommitsByPath = ReadonlyMap<
  string,
  { readonly authored: readonly DatedCommit[]; readonly amended: readonly DatedCommit[] }
>

export function commitsByPath(commits: readonly DatedCommit[], touched: TouchedNames): CommitsByPath {
  const byPath = new Map<string, { authored: DatedCommit[]; amended: DatedCommit[] }>()
  for (const dated of commits.toSorted((left, right) => left.window.endMs - right.window.endMs)) {
    for (const path of touched.get(dated.commit.sha) ?? []) {
      const lists = byPath.get(path) ?? { authored: [], amended: [] }
      byPath.set(path, lists)
      lists.authored.push(dated)
      if (dated.amended !== null) lists.amended.push(dated)
    }
  }
  return byPath
}

/** By commit: the edits of a chat that it was the first to include. */
export function attributeEdits(edits: readonly RepositoryEdit[], byPath: CommitsByPath, touched: TouchedNames) {
  const attributed = new Map<DatedCommit, RepositoryEdit[]>()
  const coverage = coverageOf(edits, touched)
  for (const edit of edits) {
    for (const dated of commitsOfEdit(edit, byPath, coverage)) {
      const list = attributed.get(dated)
      if (list === undefined) attributed.set(dated, [edit])
      else list.push(edit)
    }
  }
  return attributed
}

/**
 * An edit belongs to the first later commit that touched its file, and to no other. If several people or branches worked
 * at the same time, the edit is in the windows of several commits. Then it belongs to the one that includes most of the
 * files that the chat edited. An amended commit has the edits made shortly before the amendment.
 */
function commitsOfEdit(
  { path, atMs }: RepositoryEdit,
  byPath: CommitsByPath,
  coverage: Coverage,
): readonly DatedCommit[] {
  const { authored = [], amended = [] } = byPath.get(path) ?? {}
  const first = authored.find(({ window }) => window.endMs >= atMs && window.endMs - atMs <= LATE_MS)
  const around = authored.filter(({ window }) => isIn(atMs, window))
  const amending =
    around.length > 0 ? undefined : amended.findLast((each) => each.amended !== null && isIn(atMs, each.amended))
  if (amending?.amended && (first === undefined || amending.amended.endMs < first.window.endMs)) return [amending]
  const chosen = around.reduce((best, each) => (coverage(each) > coverage(best) ? each : best), around[0] ?? first)
  return chosen === undefined ? [] : authored.filter((each) => each === chosen || isSameChange(each, chosen))
}

/** A cherry-picked commit keeps its author, its author date and usually its subject. */
function isSameChange({ commit: left }: DatedCommit, { commit: right }: DatedCommit): boolean {
  return left.authoredAtMs === right.authoredAtMs && left.author === right.author && left.subject === right.subject
}

type Coverage = (dated: DatedCommit | undefined) => number

/** How many of the files that a chat edited before a commit are in the commit. */
function coverageOf(edits: readonly RepositoryEdit[], touched: TouchedNames): Coverage {
  const known = new Map<DatedCommit, number>()
  const count = (dated: DatedCommit): number => {
    const files = touched.get(dated.commit.sha) ?? new Set<string>()
    const held = edits.filter(({ path, atMs }) => atMs <= dated.window.endMs && files.has(path))
    return new Set(held.map(({ path }) => path)).size
  }
  return (dated) => {
    if (dated === undefined) return -1
    const value = known.get(dated) ?? count(dated)
    known.set(dated, value)
    return value
  }
}
