import type { Mirror } from '../../mirror/open.ts'
import { confidences, type Histories } from '../../model/commit.ts'
import type { CommitReport, DescribedMatch } from '../http/schemas/commits.ts'
import { toIso } from '../iso.ts'
import type { PageRequest } from '../queries/page.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'
import { matchCommits, type CommitMatch } from './match-commits.ts'
import { folderOf } from './repository-paths.ts'

export interface CommitReportRequest extends PageRequest {
  /** The project whose repository is read. */
  readonly root: ProjectRoot
  /** Bounds of the committer date in epoch milliseconds. Inclusive. */
  readonly fromMs: number | null
  /** Exclusive. */
  readonly toMs: number | null
  /** Chats with a lower confidence are left out. */
  readonly least: DescribedMatch['confidence']
}

/** Commits of a repository, newest first, each with the chats that may have led to it. */
export async function reportCommits(
  db: Mirror,
  histories: Histories,
  { root, fromMs, toMs, least, limit, offset }: CommitReportRequest,
): Promise<CommitReport> {
  const history = await histories.read(folderOf(root.path))
  // A commit without a time is in no range.
  const listed = history.commits.filter(
    ({ committedAtMs: atMs }) =>
      (fromMs === null || (atMs ?? -Infinity) >= fromMs) && (toMs === null || (atMs ?? Infinity) < toMs),
  )
  const shown = listed.slice(offset, offset + limit)
  const { matches, touched } = await matchCommits(db, histories, history, shown)
  const likely = new Set(confidences.slice(confidences.indexOf(least)))
  const items = shown.map(({ sha, committedAtMs, authoredAtMs, author, subject }) => ({
    sha,
    committedAt: toIso(committedAtMs),
    authoredAt: toIso(authoredAtMs),
    author,
    subject,
    project: root.project,
    filesChanged: touched.get(sha)?.length ?? 0,
    chats: (matches.get(sha) ?? [])
      .filter(({ confidence }) => likely.has(confidence))
      .map(({ id, title, confidence, score, evidence }) => ({ id, title, confidence, score, evidence })),
  }))
  return { items, total: listed.length, limit, offset }
}

/**
 * The chats that may have led to a commit, the likeliest first.
 * @param digits first hex digits of its sha, in lower case
 * @returns null if no commit of this repository begins with them, or several do
 */
export async function chatsOfCommit(
  db: Mirror,
  histories: Histories,
  root: ProjectRoot,
  digits: string,
): Promise<readonly CommitMatch[] | null> {
  const history = await histories.read(folderOf(root.path))
  const found = history.commits.filter(({ sha }) => sha.startsWith(digits))
  const [commit] = found
  if (commit === undefined || found.length > 1) return null
  return (await matchCommits(db, histories, history, found)).matches.get(commit.sha) ?? []
}
