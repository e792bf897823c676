import type { Mirror } from '../../mirror/open.ts'
import type { Commit, CommitList, Histories, TouchedFiles } from '../../model/commit.ts'
import { UserError } from '../../model/user-error.ts'
import { readChatActivity, readScoredCommits } from '../queries/chats/chat-activity.ts'
import { listProjectRoots } from '../queries/projects/project-roots.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import type { CommitMatch } from './judge-match.ts'
import { dateCommits, LATE_MS, madeAtOf, matchCommits } from './match-commits.ts'
import { folderOf, gitPath, liesIn, repositoryPath, type OpenedRepository } from './repositories.ts'

/** Besides the wanted commits, the files of at most this many commits are read. */
const TOUCHED_MAX = 3000

export interface MatchRequest {
  readonly opened: OpenedRepository
  readonly list: CommitList
  /** The wanted commits: a part of the list. */
  readonly asked: readonly Commit[]
  readonly windowMs: number
}

export interface MatchAnswer {
  readonly matches: ReadonlyMap<string, readonly CommitMatch[]>
  /** Commits with unknown files are left out. */
  readonly touched: ReadonlyMap<string, TouchedFiles>
  readonly warnings: readonly string[]
}

/** Matches commits of one repository with the chats of all projects in it. */
export async function matchOpened(db: Mirror, histories: Histories, request: MatchRequest): Promise<MatchAnswer> {
  const { opened, list, windowMs } = request
  // The history may be long. So the work per commit is only done for the wanted ones.
  const bySha = new Map(list.commits.map((commit) => [commit.sha, commit]))
  const wanted = dateCommits(request.asked, windowMs, bySha)
  if (wanted.length === 0) return { matches: new Map(), touched: new Map(), warnings: [] }
  const asked = new Set(wanted.map(({ commit }) => commit.sha))
  const toMs = wanted.reduce((last, { window }) => Math.max(last, window.endMs), -Infinity)
  // From the earliest edit that may be in one of the commits.
  const fromMs = wanted.reduce((first, { window }) => Math.min(first, window.startMs, window.endMs - LATE_MS), Infinity)
  const { chats, folders, scored } = inSnapshot(db, () => {
    const roots = listProjectRoots(db).map(({ num, remote, path }) => ({ num, remote, folder: folderOf(path) }))
    const within = roots.filter(({ remote, folder }) => remote === null && liesIn(folder, opened.tops))
    const projectNums = within.map(({ num }) => num)
    return {
      chats: readChatActivity(db, { projectNums, fromMs, toMs }),
      folders: new Map(within.map(({ num, folder }) => [num, folder])),
      scored: readScoredCommits(db, [...asked]),
    }
  })
  // An edit belongs to the first commit that touched its file: so those between an edit and a wanted commit decide too.
  const editsMs = chats.flatMap(({ edits, endedAtMs }) => edits.map(({ atMs }) => atMs ?? endedAtMs ?? Infinity))
  const firstMs = editsMs.reduce((first, atMs) => (atMs >= fromMs ? Math.min(first, atMs) : first), Infinity)
  const between = list.commits
    .filter((commit) => !asked.has(commit.sha) && timeOf(commit) + 1000 > firstMs && timeOf(commit) <= toMs)
    .sort((one, other) => timeOf(other) - timeOf(one))
  const commits = [...wanted, ...dateCommits(between.slice(0, TOUCHED_MAX), windowMs, bySha)]
  const cut = `Edits made long before a commit were matched only with the last ${commits.length} commits.`
  const warnings = between.length > TOUCHED_MAX ? [cut] : []
  const touched = await histories
    .touched(
      opened.repository,
      commits.map(({ commit }) => commit),
    )
    .catch((error: unknown): MatchAnswer['touched'] => {
      if (!(error instanceof UserError)) throw error
      // Matching by time alone is better than no answer.
      warnings.push(`The files of the commits could not be read. ${error.message}`)
      return new Map()
    })
  const named = ({ names }: TouchedFiles) => new Set([...names].map((name) => gitPath(name, opened.tops)))
  const matches = matchCommits({
    commits,
    touched: new Map([...touched].map(([sha, files]) => [sha, { ...files, names: named(files) }])),
    asked,
    chats,
    scored,
    pathOf: ({ projectNum }, path) => repositoryPath(path, folders.get(projectNum) ?? '/', opened.tops),
    isOnBranch: branchReader(opened.repository.branches, bySha),
  })
  return { matches, touched, warnings }
}

const timeOf = (commit: Commit): number => madeAtOf(commit) ?? -Infinity

/** Whether a commit is on a branch; null if the branch no longer exists, or its tip was not read. Walks each branch once. */
function branchReader(branches: ReadonlyMap<string, string>, bySha: ReadonlyMap<string, Commit>) {
  const reachedFrom = new Map<string, ReadonlySet<string>>()
  return (branch: string, sha: string): boolean | null => {
    const tip = branches.get(branch)
    if (tip === undefined || !bySha.has(tip)) return null
    const reached = reachedFrom.get(branch) ?? reach(tip, bySha)
    reachedFrom.set(branch, reached)
    return reached.has(sha)
  }
}

function reach(tip: string, bySha: ReadonlyMap<string, Commit>): ReadonlySet<string> {
  const reached = new Set([tip])
  for (const sha of reached) {
    for (const parent of bySha.get(sha)?.parents ?? []) if (bySha.has(parent)) reached.add(parent)
  }
  return reached
}
