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

/** An edit that was committed later than this went into something else, as far as anybody can tell. */
export const LATE_MS = 14 * 24 * 3_600_000

/** An edit, its path as git names it. */
export interface TakenEdit {
  readonly path: string
  readonly atMs: number
}

/** By sha: every name that a file had or got. A commit that is not in it touched what is not known. */
export type TouchedNames = ReadonlyMap<string, ReadonlySet<string>>

/** By path, the commits that touched it, in the order in which they were made. */
type Takers = ReadonlyMap<
  string,
  { readonly authored: readonly DatedCommit[]; readonly amended: readonly DatedCommit[] }
>

export function takersOf(commits: readonly DatedCommit[], touched: TouchedNames): Takers {
  const takers = new Map<string, { authored: DatedCommit[]; amended: DatedCommit[] }>()
  for (const dated of commits.toSorted((left, right) => left.window.endMs - right.window.endMs)) {
    for (const path of touched.get(dated.commit.sha) ?? []) {
      const lists = takers.get(path) ?? { authored: [], amended: [] }
      takers.set(path, lists)
      lists.authored.push(dated)
      if (dated.amended !== null) lists.amended.push(dated)
    }
  }
  return takers
}

/** By commit, the edits of a chat that it was the first to hold. */
export function takenBy(edits: readonly TakenEdit[], takers: Takers, touched: TouchedNames) {
  const taken = new Map<DatedCommit, TakenEdit[]>()
  const coverage = coverageOf(edits, touched)
  for (const edit of edits) {
    for (const dated of takersOfEdit(edit, takers, coverage)) {
      const list = taken.get(dated)
      if (list === undefined) taken.set(dated, [edit])
      else list.push(edit)
    }
  }
  return taken
}

/**
 * An edit went into the first commit after it that touched its file, whenever that was, and into none after it. Where
 * several people, or several branches, were at it at once, more than one commit's window holds the edit: then into the
 * one that holds most of what the chat edited. An amended commit has what was edited shortly before it was amended.
 */
function takersOfEdit({ path, atMs }: TakenEdit, takers: Takers, coverage: Coverage): readonly DatedCommit[] {
  const { authored = [], amended = [] } = takers.get(path) ?? {}
  const first = authored.find(({ window }) => window.endMs >= atMs && window.endMs - atMs <= LATE_MS)
  const around = authored.filter(({ window }) => isIn(atMs, window))
  const anew =
    around.length > 0 ? undefined : amended.findLast((each) => each.amended !== null && isIn(atMs, each.amended))
  if (anew?.amended && (first === undefined || anew.amended.endMs < first.window.endMs)) return [anew]
  const taker = around.reduce((best, each) => (coverage(each) > coverage(best) ? each : best), around[0] ?? first)
  return taker === undefined ? [] : authored.filter((each) => each === taker || isSameChange(each, taker))
}

/** Picked onto another branch, a change keeps its author, its author date and mostly its words. */
function isSameChange({ commit: left }: DatedCommit, { commit: right }: DatedCommit): boolean {
  return left.authoredAtMs === right.authoredAtMs && left.author === right.author && left.subject === right.subject
}

type Coverage = (dated: DatedCommit | undefined) => number

/** How many of the files that a chat edited up to a commit the commit holds. Of two that hold as many the first has it. */
function coverageOf(edits: readonly TakenEdit[], touched: TouchedNames): Coverage {
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
