import type { Mirror } from '../../mirror/open.ts'
import type { Histories } from './histories.ts'
import type { CommitMatch } from './judge-match.ts'
import { LATE_MS } from './take-edits.ts'
import { matchOpened } from './match-opened.ts'
import type { OpenedRepository } from './open-repositories.ts'

/**
 * The chats of which a commit may have come, the likeliest first.
 * @param digits first hex digits of its sha, lower case
 * @returns null where no commit of these repositories begins so, or several do
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
    const stretch = { sinceMs: madeAtMs - 2 * LATE_MS, alsoFrom: commit.sha }
    const list = await histories.list(opened.repository, stretch)
    const { matches } = await matchOpened(db, histories, { opened, list, asked: [commit], windowMs })
    return matches.get(commit.sha) ?? []
  }
  return null
}
