import type { Mirror } from '../../../mirror/open.ts'
import type { Branch } from '../plan/branch.ts'
import { LIMIT_ROWS, rowsOf } from '../match/statement.ts'

/** A chat whose title or summary matches, with the branches that match. */
export interface TitleCandidate {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly branches: readonly Branch[]
}

/** A walk that finds fewer titles than this has found all. */
export const CANDIDATES_MAX = 1000
/** For SQLite a negative limit means no limit. */
export const NO_LIMIT = -1

/**
 * The latest chats whose titles match and that have a message.
 * @param chats only these chats; null: any chat
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
      ${LIMIT_ROWS}
    `,
  ).all({
    match: branch.match,
    rows,
    ...(branch.chats === null ? {} : { chats: JSON.stringify(branch.chats) }),
    ...(chats === null ? {} : { near: JSON.stringify(chats) }),
  })
}
