import type { Mirror } from '../../../mirror/open.ts'
import type { Branch } from '../plan/branch.ts'
import { rowsOf } from '../match/statement.ts'

/** A chat that matches by its title or summary, and in which ways. */
export interface TitleCandidate {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly branches: readonly Branch[]
}

/** What a walk over titles finds is all there are where it is less than this. */
export const CANDIDATES_MAX = 1000
/** As SQLite writes it. */
export const NO_LIMIT = -1

/**
 * The last chats that match by their titles and hold a message.
 * @param chats only these; null: any
 */
export function findCandidates(
  db: Mirror,
  branches: readonly Branch[],
  chats: readonly number[] | null = null,
  rows = CANDIDATES_MAX,
): readonly TitleCandidate[] {
  const found = new Map<number, TitleCandidate>()
  for (const branch of branches) {
    for (const row of candidatesOf(db, branch, chats, rows)) {
      const branchesBefore = found.get(row.num)?.branches ?? []
      found.set(row.num, { ...row, branches: [...branchesBefore, branch] })
    }
  }
  return [...found.values()]
}

function candidatesOf(
  db: Mirror,
  branch: Branch,
  chats: readonly number[] | null,
  rows: number,
): readonly Omit<TitleCandidate, 'branches'>[] {
  const ofBranch = branch.chats === null ? '' : 'and +chat_terms.rowid in (select value from json_each(@chats))'
  const near = chats === null ? '' : 'and +chat_terms.rowid in (select value from json_each(@near))'
  return rowsOf<Omit<TitleCandidate, 'branches'>>(
    db,
    `
      select c.num, c.title, c.summary
      from chat_terms cross join chats c on c.num = chat_terms.rowid
      where chat_terms match @match ${ofBranch} ${near} and exists (select 1 from messages m where m.chat = c.num)
      order by chat_terms.rowid desc
      limit @rows
    `,
  ).all({
    match: branch.match,
    rows,
    ...(branch.chats === null ? {} : { chats: JSON.stringify(branch.chats) }),
    ...(chats === null ? {} : { near: JSON.stringify(chats) }),
  })
}
