import type { Mirror } from '../../mirror/open.ts'
import { confidences, type Commit, type CommitList, type Histories } from '../../model/commit.ts'
import { asChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import type { CommitReport, DescribedMatch, ReportedCommit } from '../http/schemas/commits.ts'
import { toIso } from '../iso.ts'
import { readChatSpan } from '../queries/chats/chat-activity.ts'
import type { PageRequest } from '../queries/page.ts'
import type { CommitMatch } from './judge-match.ts'
import { LATE_MS, madeAtOf } from './match-commits.ts'
import { matchOpened, type MatchAnswer } from './match-opened.ts'
import type { OpenedRepository } from './repositories.ts'

export interface CommitReportRequest extends PageRequest {
  /** Bounds of the committer date in epoch milliseconds. Inclusive. */
  readonly fromMs: number | null
  /** Exclusive. */
  readonly toMs: number | null
  readonly windowMs: number
  /** Only commits that this chat may have led to. Null: all. */
  readonly chatId: string | null
  /** Chats with a lower confidence are left out. */
  readonly least: DescribedMatch['confidence']
}

interface Listed {
  readonly opened: OpenedRepository
  readonly commit: Commit
}

/** Commits of some repositories, newest first, each with the chats that may have led to it. */
export async function reportCommits(
  db: Mirror,
  histories: Histories,
  repositories: readonly OpenedRepository[],
  request: CommitReportRequest,
): Promise<CommitReport> {
  const { chatId, windowMs, limit, offset } = request
  const { lists, warnings } = await readLists(histories, repositories, request)
  const listed = [...lists].flatMap(([opened, list]) =>
    list.commits.filter((commit) => isInRange(commit, list, request)).map((commit): Listed => ({ opened, commit })),
  )
  // For one repository, git's own order is better than the order of times.
  if (lists.size > 1) listed.sort((one, other) => timeOf(other) - timeOf(one))
  const asked = chatId === null ? listed.slice(offset, offset + limit) : nearChat(db, chatId, listed)
  const answers = new Map<OpenedRepository, MatchAnswer>()
  for (const [opened, list] of lists) {
    const commits = asked.filter((each) => each.opened === opened).map(({ commit }) => commit)
    const answer = await matchOpened(db, histories, { opened, list, asked: commits, windowMs })
    answers.set(opened, answer)
    for (const warning of answer.warnings) warnings.add(warning)
  }
  const described = asked.map((each) => describe(each, answers.get(each.opened), request))
  if (chatId === null) return { items: described, total: listed.length, limit, offset, warnings: [...warnings] }
  const ofChat = described.filter(({ chats }) => chats.length > 0)
  const items = ofChat.slice(offset, offset + limit)
  return { items, total: ofChat.length, limit, offset, warnings: [...warnings] }
}

/**
 * Reads commits before `fromMs` too: an edit may have been committed late, and the commits in between decide. If one
 * history cannot be read, the others still are.
 */
async function readLists(
  histories: Histories,
  repositories: readonly OpenedRepository[],
  { fromMs }: CommitReportRequest,
) {
  const period = { sinceMs: fromMs === null ? -Infinity : fromMs - 2 * LATE_MS, alsoFrom: null }
  const lists = new Map<OpenedRepository, CommitList>()
  const warnings = new Set<string>()
  for (const opened of repositories) {
    try {
      const list = await histories.list(opened.repository, period)
      lists.set(opened, list)
      const { name } = opened.root.project
      const cut = `The history of ${name} is too long to read completely: older commits are left out. Use "from".`
      if (!list.isWhole) warnings.add(cut)
    } catch (error) {
      if (!(error instanceof UserError) || repositories.length === 1) throw error
      warnings.add(error.message)
    }
  }
  return { lists, warnings }
}

function isInRange({ sha, committedAtMs }: Commit, { within }: CommitList, { fromMs, toMs }: CommitReportRequest) {
  if (within !== null && !within.has(sha)) return false
  if (committedAtMs === null) return fromMs === null && toMs === null
  return (fromMs === null || committedAtMs >= fromMs) && (toMs === null || committedAtMs < toMs)
}

const timeOf = ({ commit }: Listed): number => commit.committedAtMs ?? -Infinity

/** Commits that a chat may have led to, judged only by time. */
function nearChat(db: Mirror, chatId: string, listed: readonly Listed[]): readonly Listed[] {
  const span = readChatSpan(db, asChatId(chatId))
  return listed.filter(({ commit }) => {
    const atMs = madeAtOf(commit)
    return span !== null && atMs !== null && atMs + 1000 > span.startedAtMs && atMs < span.endedAtMs + LATE_MS
  })
}

function describe(
  { opened, commit }: Listed,
  answer: MatchAnswer | undefined,
  { chatId, least }: CommitReportRequest,
): ReportedCommit {
  const matches = (answer?.matches.get(commit.sha) ?? []).filter(
    ({ id, confidence }) =>
      confidences.indexOf(confidence) >= confidences.indexOf(least) && (chatId === null || id === chatId),
  )
  return {
    sha: commit.sha,
    committedAt: toIso(commit.committedAtMs),
    authoredAt: toIso(commit.authoredAtMs),
    author: commit.author,
    subject: commit.subject,
    project: opened.root.project,
    filesChanged: answer?.touched.get(commit.sha)?.count ?? null,
    chats: matches.map(({ id, title, confidence, score, evidence }) => ({ id, title, confidence, score, evidence })),
  }
}

/**
 * The chats that may have led to a commit, the likeliest first.
 * @param digits first hex digits of its sha, in lower case
 * @returns null if no commit of these repositories begins with them, or several do
 */
export async function chatsOfCommit(
  db: Mirror,
  histories: Histories,
  repositories: readonly OpenedRepository[],
  { digits, windowMs }: { readonly digits: string; readonly windowMs: number },
): Promise<readonly CommitMatch[] | null> {
  for (const opened of repositories) {
    const commit = await histories.find(opened.repository, digits)
    if (commit === null) continue
    const sinceMs = (madeAtOf(commit) ?? Infinity) - 2 * LATE_MS
    const list = await histories.list(opened.repository, { sinceMs, alsoFrom: commit.sha })
    const { matches } = await matchOpened(db, histories, { opened, list, asked: [commit], windowMs })
    return matches.get(commit.sha) ?? []
  }
  return null
}
