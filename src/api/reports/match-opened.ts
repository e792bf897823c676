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

/** Of so many commits besides those of an answer it is asked what they touched. */
const TOUCHED_MAX = 3000

export interface MatchRequest {
  readonly opened: OpenedRepository
  readonly list: CommitList
  /** Some of the list. */
  readonly asked: readonly Commit[]
  readonly windowMs: number
}

export interface MatchAnswer {
  readonly matches: ReadonlyMap<string, readonly CommitMatch[]>
  /** How many files each touched; a commit of which that is not known is left out. */
  readonly fileCounts: ReadonlyMap<string, number>
  readonly warnings: readonly string[]
}

/** Matches commits of one repository to the chats of all projects that lie in it. */
export async function matchOpened(db: Mirror, histories: Histories, request: MatchRequest): Promise<MatchAnswer> {
  const { opened, list } = request
  const asked = new Set(request.asked.map(({ sha }) => sha))
  // Of a long history only a stretch is of interest: what is done for each commit is done for those.
  const bySha = new Map(list.commits.map((commit) => [commit.sha, commit]))
  const wanted = dateCommits(request.asked, request.windowMs, bySha)
  if (wanted.length === 0) return { matches: new Map(), fileCounts: new Map(), warnings: [] }
  const stretch = stretchOf(wanted)
  const { chats, rootOf, scored } = readChats(db, opened.place, stretch, [...asked])
  const between = commitsBetween(list.commits, asked, firstEditOf(chats, stretch))
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
  const cut = `Edits long before a commit were looked for in the last ${named.length} commits only.`
  return {
    matches,
    fileCounts,
    warnings: [...(between.length > TOUCHED_MAX ? [cut] : []), ...(warning === null ? [] : [warning])],
  }
}

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
}

/** From the first edit that one of them may hold to the last moment in which one was made. */
function stretchOf(wanted: readonly DatedCommit[]): Stretch {
  let [fromMs, toMs] = [Infinity, -Infinity]
  for (const { window, amended } of wanted) {
    fromMs = Math.min(fromMs, window.startMs, window.endMs - LATE_MS)
    toMs = Math.max(toMs, window.endMs, amended?.endMs ?? window.endMs)
  }
  return { fromMs, toMs }
}

function readChats(db: Mirror, place: RepositoryPlace, stretch: Stretch, shas: readonly string[]) {
  return inSnapshot(db, () => {
    const roots = listProjectRoots(db).filter(({ remote, path }) => remote === null && liesIn(folderOf(path), place))
    const folders = new Map(roots.map(({ num, path }) => [num, folderOf(path)]))
    const chats = readChatActivity(db, { projectNums: [...folders.keys()], ...stretch })
    const scored = readScoredCommits(db, shas)
    return { chats, scored, rootOf: ({ projectNum }: ChatActivity): string => folders.get(projectNum) ?? '/' }
  })
}

/** Of a project of several folders, the one in which the file lies that names them. */
const folderOf = (path: string): string => path.replace(/[\\/][^\\/]+\.code-workspace$/, '')

/** From the first edit that a wanted commit may hold; nothing lies between where nothing was edited. */
function firstEditOf(chats: readonly ChatActivity[], { fromMs, toMs }: Stretch): Stretch {
  const edits = chats.flatMap((chat) => chat.edits.map(({ atMs }) => atMs ?? chat.endedAtMs ?? Infinity))
  return { fromMs: edits.reduce((first, atMs) => (atMs >= fromMs ? Math.min(first, atMs) : first), Infinity), toMs }
}

const timeOf = ({ authoredAtMs, committedAtMs }: Commit): number => authoredAtMs ?? committedAtMs ?? -Infinity

/** Commits between an edit and a wanted one, the last first: an edit went into the first that touched its file. */
function commitsBetween(commits: readonly Commit[], asked: ReadonlySet<string>, { fromMs, toMs }: Stretch): Commit[] {
  return commits
    .filter((commit) => !asked.has(commit.sha) && timeOf(commit) + 1000 > fromMs && timeOf(commit) <= toMs)
    .sort((left, right) => timeOf(right) - timeOf(left))
}

/** Without files there is time alone: better than no answer, and it says so. */
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
    return { files, warning: `What the commits touched could not be read. ${error.message}` }
  }
}

const namesOf = (files: readonly TouchedFile[], place: RepositoryPlace): ReadonlySet<string> =>
  new Set(
    files.flatMap(({ path, formerPath }) =>
      [path, ...(formerPath === null ? [] : [formerPath])].map((name) => gitPath(name, place)),
    ),
  )

/** Whether a commit is on a branch; null where the branch is gone, or its history was not read as far. */
export type IsOnBranch = (branch: string, sha: string) => boolean | null

/** Asks the commits that were read, each branch once. */
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
