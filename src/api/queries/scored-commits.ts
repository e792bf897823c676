import type { Mirror } from '../../mirror/open.ts'

/** A score of no lines at all says that the commit holds nothing of any chat. */
const SCORED = `
  select distinct sha from scored_commits
  where sha in (select value from json_each(?)) and coalesce(chat_lines, 1) > 0
`

/** Which of these commits Cursor looked at and found code of chats in, as far as it says. */
export const readScoredCommits = (db: Mirror, shas: readonly string[]): ReadonlySet<string> =>
  new Set(db.prepare<[string], string>(SCORED).pluck().all(JSON.stringify(shas)))
