import type { Chat } from '../../model/chat.ts'
import { chatsOfCommit } from '../reports/chats-of-commit.ts'
import type { CommitMatch } from '../reports/judge-match.ts'
import { tellMatch } from '../reports/tell-match.ts'
import { badParameters, Problem } from './problem.ts'
import { readRepos } from './read-repos.ts'
import { WINDOW_DEFAULT_MS } from '../reports/commit-windows.ts'
import type { ApiWorld } from './world.ts'

/**
 * What `commit` and `repo` of a list of chats ask for; null where they are not given.
 * @throws Problem 400 where one is missing or is no sha, 404 where there is no such commit, and as `readRepos`
 */
export async function readMatches(
  world: ApiWorld,
  { commit, repo }: { readonly commit: string | null; readonly repo: readonly string[] | null },
): Promise<readonly CommitMatch[] | null> {
  if (commit === null && repo === null) return null
  if (commit === null) throw badParameters([{ name: 'commit', reason: 'must be given with "repo"' }])
  if (!/^[\da-f]{4,64}$/i.test(commit)) {
    throw badParameters([{ name: 'commit', reason: 'must be the sha of a commit, or its first 4 hex digits or more' }])
  }
  if (repo === null) throw badParameters([{ name: 'repo', reason: 'must say in which repository the commit is' }])
  const { repositories } = await readRepos(world, repo)
  const question = { digits: commit.toLowerCase(), windowMs: WINDOW_DEFAULT_MS }
  const matches = await chatsOfCommit(world.mirror(), world.histories, repositories, question)
  if (matches !== null) return matches
  throw new Problem(404, 'commit-not-found', 'No commit of this repository has this sha, or several begin so.')
}

/** Each chat with why it is listed. */
export function withMatches(chats: readonly Chat[], matches: readonly CommitMatch[]) {
  const byId = new Map(matches.map((match) => [match.id, tellMatch(match)]))
  return chats.map((chat) => {
    const { confidence, score, evidence } = byId.get(chat.id) ?? { confidence: null, score: null, evidence: null }
    return { ...chat, commit: { confidence, score, evidence } }
  })
}
