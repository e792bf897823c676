import type { Mirror } from '../../../mirror/open.ts'

/** `aggregate` and the names let SQLite walk the trees of these tables only. */
const TERMS_BYTES = `
  select coalesce(sum(pgsize), 0)
  from sqlite_schema s join dbstat d on d.name = s.name and d.aggregate = 1
  where s.type = 'table' and (s.name glob 'message_terms_*' or s.name glob 'chat_terms_*')
`

/** Bytes of the full-text tables. Walks all their pages: ask seldom. */
export function measureTermsBytes(db: Mirror): number {
  return db.prepare<[], number>(TERMS_BYTES).pluck().get() ?? 0
}
