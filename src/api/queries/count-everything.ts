import type { Mirror } from '../../mirror/open.ts'
import { sumLosses } from './sources.ts'
import { countProjects } from './projects/list-projects.ts'
import { inSnapshot } from './snapshot.ts'
import type { Counts, Coverage } from '../answers/status.ts'
import type { LossCounts } from '../answers/chats.ts'

export interface Census {
  readonly counts: Counts
  readonly losses: LossCounts
  readonly issues: Readonly<Record<string, number>>
  readonly coverage: Coverage
}

export const EMPTY_CENSUS: Census = {
  counts: { projects: 0, chats: 0, subagents: 0, messages: 0, orphans: 0, deleted: 0 },
  losses: { messages: 0, chats: 0, lastAt: null },
  issues: {},
  coverage: { rows: 0, read: 0, orphans: 0, issues: 0, noise: 0 },
}

/** All numbers of the mirror in `/status`. The cost grows with the mirror: use it with `cached`. */
export function countEverything(db: Mirror): Census {
  return inSnapshot(db, () => {
    const figures = db.prepare<[], Figures>(FIGURES).get()
    if (figures === undefined) throw new Error('A select without a from clause gave no row.')
    const { totalRows, nullKeys, liveRows, liveIssues, ...counts } = figures
    const issues = countIssues(db, nullKeys)
    const issueCount = Object.values(issues).reduce((sum, count) => sum + count, 0)
    const read = liveRows - liveIssues
    return {
      counts: { projects: countProjects(db), ...counts },
      losses: sumLosses(db),
      issues,
      coverage: {
        rows: totalRows,
        read,
        orphans: counts.orphans,
        issues: issueCount,
        noise: Math.max(0, totalRows - read - issueCount),
      },
    }
  })
}

type Figures = Omit<Counts, 'projects'> & Readonly<Record<'totalRows' | 'nullKeys' | 'liveRows' | 'liveIssues', number>>

/** Issues are few. Subtracting those with a live row is cheaper than a look-up for every row. */
const FIGURES = `
  select
    (select count(*) from chats where is_draft = 0 and message_count > 0 and is_subagent = 0) as chats,
    (select count(*) from chats where is_draft = 0 and message_count > 0 and is_subagent = 1) as subagents,
    (select coalesce(sum(message_count), 0) from chats where is_draft = 0) as messages,
    (select count(*) from messages where is_orphan = 1) as orphans,
    (select count(*) from messages where is_live = 0 and is_orphan <> 2) as deleted,
    (select coalesce(sum(total_rows), 0) from sources) as totalRows,
    (select coalesce(sum(null_keys), 0) from sources) as nullKeys,
    (select coalesce(sum(count), 0) from live_rows) as liveRows,
    (
      select count(*)
      from row_issues i cross join source_rows r on r.source = i.source and r.key = i.key
      where r.is_live = 1
    ) as liveIssues
`

const ISSUES_BY_REASON = `
  select reason, count(*) as count
  from row_issues
  group by reason
  order by reason
`

/** Rows without a key cannot be recorded one by one. They are only counted. */
function countIssues(db: Mirror, nullKeys: number): Record<string, number> {
  const rows = db.prepare<[], { reason: string; count: number }>(ISSUES_BY_REASON).all()
  const issues: Record<string, number> = Object.fromEntries(rows.map((row) => [row.reason, row.count]))
  if (nullKeys > 0) issues['null-key'] = (issues['null-key'] ?? 0) + nullKeys
  return issues
}
