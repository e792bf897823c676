import type { Mirror } from '../../mirror/open.ts'
import type { Commit, CommitList } from '../../model/commit.ts'
import { asChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import { toIso } from '../iso.ts'
import { readChatSpan } from '../queries/chats/chat-activity.ts'
import type { PageRequest } from '../queries/page.ts'
import type { ProjectRoot } from '../queries/projects/project-roots.ts'
import type { Histories, OpenedRepository } from './histories.ts'
import { confidences, type CommitMatch, type Confidence, describeMatch } from './judge-match.ts'
import { LATE_MS } from './attribute-edits.ts'
import { matchOpened, type MatchAnswer } from './match-opened.ts'
import type { CommitReport } from '../http/schemas/commits.ts'

export interface CommitReportRequest extends PageRequest {
  /** Bounds of the committer date in epoch milliseconds. Inclusive. */
  readonly fromMs: number | null
  /** Exclusive. */
  readonly toMs: number | null
  readonly windowMs: number
  /** Only commits that this chat may have led to. Null: all. */
  readonly chatId: string | null
  /** Chats with a lower confidence are left out. */
  readonly least: Confidence
}

interface Listed {
  readonly opened: OpenedRepository
  readonly commit: Commit
}

type Lists = ReadonlyMap<OpenedRepository, CommitList>
type Answers = ReadonlyMap<OpenedRepository, MatchAnswer>

/** Commits of some repositories, newest first, each with the chats that may have led to it. */
export async function reportCommits(
  db: Mirror,
  histories: Histories,
  repositories: readonly OpenedRepository[],
  request: CommitReportRequest,
): Promise<CommitReport> {
  const { chatId, limit, offset } = request
  const { lists, troubles } = await readLists(histories, repositories, request)
  const listed = commitsInRange(lists, request)
  const asked = chatId === null ? pageOf(listed, request) : commitsNearChat(db, chatId, listed)
  const answers = await matchAll(db, histories, { lists, asked, windowMs: request.windowMs })
  const described = asked.map((each) => describeCommit(each, answers.get(each.opened), request))
  const warnings = [...troubles, ...warningsOf(lists, answers)]
  if (chatId === null) return { items: described, total: listed.length, limit, offset, warnings }
  const ofChat = described.filter(({ chats }) => chats.length > 0)
  return { items: pageOf(ofChat, request), total: ofChat.length, limit, offset, warnings }
}

const pageOf = <Item>(all: readonly Item[], { limit, offset }: PageRequest): readonly Item[] =>
  all.slice(offset, offset + limit)

/**
 * Reads commits before `fromMs` too: an edit may have been committed late, and the commits in between decide. If one
 * history cannot be read, the others still are.
 */
async function readLists(
  histories: Histories,
  repositories: readonly OpenedRepository[],
  { fromMs }: CommitReportRequest,
): Promise<{ readonly lists: Lists; readonly troubles: readonly string[] }> {
  const period = { sinceMs: fromMs === null ? null : fromMs - 2 * LATE_MS, alsoFrom: null }
  const lists = new Map<OpenedRepository, CommitList>()
  const troubles: string[] = []
  for (const opened of repositories) {
    try {
      lists.set(opened, await histories.list(opened.repository, period))
    } catch (error) {
      if (!(error instanceof UserError) || repositories.length === 1) throw error
      troubles.push(error.message)
    }
  }
  return { lists, troubles }
}

function commitsInRange(lists: Lists, request: CommitReportRequest): readonly Listed[] {
  const listed = [...lists].flatMap(([opened, { commits, within }]) =>
    commits
      .filter((commit) => isInRange(commit, request) && (within === null || within.has(commit.sha)))
      .map((commit): Listed => ({ opened, commit })),
  )
  // For one repository, git's own order is better than the order of times.
  return lists.size > 1 ? listed.sort((left, right) => timeOf(right) - timeOf(left)) : listed
}

interface Matching {
  readonly lists: Lists
  readonly asked: readonly Listed[]
  readonly windowMs: number
}

async function matchAll(db: Mirror, histories: Histories, { lists, asked, windowMs }: Matching): Promise<Answers> {
  const answers = new Map<OpenedRepository, MatchAnswer>()
  for (const [opened, list] of lists) {
    const commits = asked.filter((each) => each.opened === opened).map(({ commit }) => commit)
    answers.set(opened, await matchOpened(db, histories, { opened, list, asked: commits, windowMs }))
  }
  return answers
}

function warningsOf(lists: Lists, answers: Answers): readonly string[] {
  const cut = [...lists].filter(([, { isWhole }]) => !isWhole).map(([{ root }]) => cutWarning(root))
  return [...new Set([...cut, ...[...answers.values()].flatMap(({ warnings }) => warnings)])]
}

/** Commits that a chat may have led to, judged only by time. */
function commitsNearChat(db: Mirror, chatId: string, listed: readonly Listed[]): readonly Listed[] {
  const span = readChatSpan(db, asChatId(chatId))
  if (span === null) return []
  const isLater = ({ authoredAtMs, committedAtMs }: Commit): boolean =>
    Math.max(authoredAtMs ?? 0, committedAtMs ?? 0) + 1000 > span.startedAtMs &&
    (authoredAtMs ?? committedAtMs ?? 0) < span.endedAtMs + LATE_MS
  return listed.filter(({ commit }) => isLater(commit))
}

const timeOf = ({ commit }: Listed): number => commit.committedAtMs ?? -Infinity

function isInRange({ committedAtMs }: Commit, { fromMs, toMs }: CommitReportRequest): boolean {
  if (committedAtMs === null) return fromMs === null && toMs === null
  return (fromMs === null || committedAtMs >= fromMs) && (toMs === null || committedAtMs < toMs)
}

const cutWarning = ({ project }: ProjectRoot): string =>
  `The history of ${project.name} is too long to read completely: older commits are left out. Use "from".`

function describeCommit({ opened, commit }: Listed, answer: MatchAnswer | undefined, request: CommitReportRequest) {
  const isWanted = ({ id, confidence }: CommitMatch): boolean =>
    confidences.indexOf(confidence) >= confidences.indexOf(request.least) &&
    (request.chatId === null || id === request.chatId)
  return {
    sha: commit.sha,
    committedAt: toIso(commit.committedAtMs),
    authoredAt: toIso(commit.authoredAtMs),
    author: commit.author,
    subject: commit.subject,
    project: opened.root.project,
    filesChanged: answer?.fileCounts.get(commit.sha) ?? null,
    chats: (answer?.matches.get(commit.sha) ?? []).filter(isWanted).map(describeMatch),
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
    const madeAtMs = commit.authoredAtMs ?? commit.committedAtMs
    if (madeAtMs === null) return []
    const period = { sinceMs: madeAtMs - 2 * LATE_MS, alsoFrom: commit.sha }
    const list = await histories.list(opened.repository, period)
    const { matches } = await matchOpened(db, histories, { opened, list, asked: [commit], windowMs })
    return matches.get(commit.sha) ?? []
  }
  return null
}
