import type { Mirror } from '../../mirror/open.ts'
import { confidences, type Commit, type Histories } from '../../model/commit.ts'
import { asChatId } from '../../model/ids.ts'
import type { CommitReport, DescribedMatch, ReportedCommit } from '../http/schemas/commits.ts'
import { toIso } from '../iso.ts'
import { readChatSpan } from '../queries/chats/chat-activity.ts'
import type { PageRequest } from '../queries/page.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'
import { LATE_MS, madeAtOf, matchCommits, type CommitMatch, type MatchAnswer } from './match-commits.ts'
import { folderOf } from './repository-paths.ts'

export interface CommitReportRequest extends PageRequest {
  /** The project whose repository is read. */
  readonly root: ProjectRoot
  /** Bounds of the committer date in epoch milliseconds. Inclusive. */
  readonly fromMs: number | null
  /** Exclusive. */
  readonly toMs: number | null
  /** Only commits that this chat may have led to. Null: all. */
  readonly chatId: string | null
  /** Chats with a lower confidence are left out. */
  readonly least: DescribedMatch['confidence']
}

/** Commits of a repository, newest first, each with the chats that may have led to it. */
export async function reportCommits(
  db: Mirror,
  histories: Histories,
  request: CommitReportRequest,
): Promise<CommitReport> {
  const { root, chatId, limit, offset } = request
  const history = await histories.read(folderOf(root.path))
  const listed = history.commits.filter((commit) => isInRange(commit, request))
  const asked = chatId === null ? listed.slice(offset, offset + limit) : nearChat(db, chatId, listed)
  const answer = await matchCommits(db, histories, history, asked)
  const described = asked.map((commit) => describe(commit, answer, request))
  if (chatId === null) return { items: described, total: listed.length, limit, offset }
  const ofChat = described.filter(({ chats }) => chats.length > 0)
  return { items: ofChat.slice(offset, offset + limit), total: ofChat.length, limit, offset }
}

function isInRange({ committedAtMs }: Commit, { fromMs, toMs }: CommitReportRequest): boolean {
  if (committedAtMs === null) return fromMs === null && toMs === null
  return (fromMs === null || committedAtMs >= fromMs) && (toMs === null || committedAtMs < toMs)
}

/** Commits that a chat may have led to, judged only by time. */
function nearChat(db: Mirror, chatId: string, listed: readonly Commit[]): readonly Commit[] {
  const { startedAtMs, endedAtMs } = readChatSpan(db, asChatId(chatId))
  if (startedAtMs === null || endedAtMs === null) return []
  return listed.filter((commit) => {
    const atMs = madeAtOf(commit)
    return atMs !== null && atMs + 1000 > startedAtMs && atMs < endedAtMs + LATE_MS
  })
}

function describe(commit: Commit, answer: MatchAnswer, { root, chatId, least }: CommitReportRequest): ReportedCommit {
  const matches = (answer.matches.get(commit.sha) ?? []).filter(
    ({ id, confidence }) =>
      confidences.indexOf(confidence) >= confidences.indexOf(least) && (chatId === null || id === chatId),
  )
  return {
    sha: commit.sha,
    committedAt: toIso(commit.committedAtMs),
    authoredAt: toIso(commit.authoredAtMs),
    author: commit.author,
    subject: commit.subject,
    project: root.project,
    filesChanged: answer.touched.get(commit.sha)?.length ?? 0,
    chats: matches.map(({ id, title, confidence, score, evidence }) => ({ id, title, confidence, score, evidence })),
  }
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
