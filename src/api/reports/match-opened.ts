import type { Mirror } from '../../mirror/open.ts'
import type { Commit, CommitList, TouchedFile, TouchedFiles, Repository } from '../../model/commit.ts'
import { UserError } from '../../model/user-error.ts'
import { readChatActivity, type ChatActivity, readScoredCommits } from '../queries/chats/chat-activity.ts'
import { listProjectRoots } from '../queries/projects/project-roots.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { dateCommits, type DatedCommit, type CommitsBySha, LATE_MS } from './attribute-edits.ts'
import type { Histories, OpenedRepository } from './histories.ts'
import type { CommitMatch } from './judge-match.ts'
import { matchCommits } from './match-commits.ts'
import { gitPath, liesIn, repositoryPath, type RepositoryPlace } from './repository-paths.ts'

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
  /** How many files each commit touched. Commits with unknown files are left out. */
  readonly fileCounts: ReadonlyMap<string, number>
  readonly warnings: readonly string[]
}

/** Matches commits of one repository with the chats of all projects in it. */
export async function matchOpened(db: Mirror, histories: Histories, request: MatchRequest): Promise<MatchAnswer> {
  const { opened, list } = request
  const asked = new Set(request.asked.map(({ sha }) => sha))
  // The history may be long. So the work per commit is only done for the wanted ones.
  const bySha = new Map(list.commits.map((commit) => [commit.sha, commit]))
  const wanted = dateCommits(request.asked, request.windowMs, bySha)
  if (wanted.length === 0) return { matches: new Map(), fileCounts: new Map(), warnings: [] }
  const period = periodOf(wanted)
  const { chats, rootOf, scored } = readChats(db, opened.place, period, [...asked])
  const between = commitsBetween(list.commits, asked, firstEditOf(chats, period))
  const named = [...wanted, ...dateCommits(between.slice(0, TOUCHED_MAX), request.windowMs, bySha)]
  const { files, warning } = await readTouched(opened, named, histories)
  const isOnBranch = branchReader(opened.repository, bySha)
  const fileCounts = new Map([...files].map(([sha, { count }]) => [sha, count]))
  const matches = matchCommits({
    commits: named,
    touched: new Map([...files].map(([sha, all]) => [sha, namesOf(all.files, opened.place)])),
    fileCounts,
    asked,
    chats,
    scored,
    pathOf: (chat, path) => repositoryPath(path, rootOf(chat), opened.place),
    isOnBranch,
  })
  const cut = `Edits made long before a commit were matched only with the last ${named.length} commits.`
  return {
    matches,
    fileCounts,
    warnings: [...(between.length > TOUCHED_MAX ? [cut] : []), ...(warning === null ? [] : [warning])],
  }
}

interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/** From the earliest edit that may be in one of the commits to the time of the last commit. */
function periodOf(wanted: readonly DatedCommit[]): Period {
  let [fromMs, toMs] = [Infinity, -Infinity]
  for (const { window, amended } of wanted) {
    fromMs = Math.min(fromMs, window.startMs, window.endMs - LATE_MS)
    toMs = Math.max(toMs, window.endMs, amended?.endMs ?? window.endMs)
  }
  return { fromMs, toMs }
}

function readChats(db: Mirror, place: RepositoryPlace, period: Period, shas: readonly string[]) {
  return inSnapshot(db, () => {
    const roots = listProjectRoots(db).filter(({ remote, path }) => remote === null && liesIn(folderOf(path), place))
    const folders = new Map(roots.map(({ num, path }) => [num, folderOf(path)]))
    const chats = readChatActivity(db, { projectNums: [...folders.keys()], ...period })
    const scored = readScoredCommits(db, shas)
    return { chats, scored, rootOf: ({ projectNum }: ChatActivity): string => folders.get(projectNum) ?? '/' }
  })
}

/** For a workspace file of several folders, the folder of that file. */
const folderOf = (path: string): string => path.replace(/[\\/][^\\/]+\.code-workspace$/, '')

/** From the first edit that may be in a wanted commit. Without edits the period is empty. */
function firstEditOf(chats: readonly ChatActivity[], { fromMs, toMs }: Period): Period {
  const edits = chats.flatMap((chat) => chat.edits.map(({ atMs }) => atMs ?? chat.endedAtMs ?? Infinity))
  return { fromMs: edits.reduce((first, atMs) => (atMs >= fromMs ? Math.min(first, atMs) : first), Infinity), toMs }
}

const timeOf = ({ authoredAtMs, committedAtMs }: Commit): number => authoredAtMs ?? committedAtMs ?? -Infinity

/** Commits between an edit and a wanted commit, the last first. An edit belongs to the first that touched its file. */
function commitsBetween(commits: readonly Commit[], asked: ReadonlySet<string>, { fromMs, toMs }: Period): Commit[] {
  return commits
    .filter((commit) => !asked.has(commit.sha) && timeOf(commit) + 1000 > fromMs && timeOf(commit) <= toMs)
    .sort((left, right) => timeOf(right) - timeOf(left))
}

/** If the files cannot be read, matching by time alone is better than no answer. A warning says so. */
async function readTouched({ repository }: OpenedRepository, named: readonly DatedCommit[], histories: Histories) {
  try {
    const files = await histories.touched(
      repository,
      named.map(({ commit }) => commit.sha),
    )
    return { files, warning: null }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const files: ReadonlyMap<string, TouchedFiles> = new Map()
    return { files, warning: `The files of the commits could not be read. ${error.message}` }
  }
}

const namesOf = (files: readonly TouchedFile[], place: RepositoryPlace): ReadonlySet<string> =>
  new Set(
    files.flatMap(({ path, formerPath }) =>
      [path, ...(formerPath === null ? [] : [formerPath])].map((name) => gitPath(name, place)),
    ),
  )

/** Whether a commit is on a branch; null if the branch no longer exists, or its tip was not read. */
export type IsOnBranch = (branch: string, sha: string) => boolean | null

/** Walks each branch once, over the commits that were read. */
export function branchReader({ branches }: Repository, bySha: CommitsBySha): IsOnBranch {
  const known = new Map<string, ReadonlySet<string> | null>()
  const reach = (branch: string): ReadonlySet<string> | null => {
    const tip = branches.get(branch)
    if (tip === undefined || !bySha.has(tip)) return null
    const reached = new Set([tip])
    for (const sha of reached) {
      for (const parent of bySha.get(sha)?.parents ?? []) if (bySha.has(parent)) reached.add(parent)
    }
    return reached
  }
  return (branch, sha) => {
    const reached = known.get(branch) ?? reach(branch)
    known.set(branch, reached)
    return reached?.has(sha) ?? null
  }
}
