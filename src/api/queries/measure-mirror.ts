import type { Mirror } from '../../mirror/open.ts'
import { statSync } from 'node:fs'

/** How many bodies are measured. If there are more, evenly spaced ones are taken as a sample. */
const SAMPLE = 200

const MEAN = `
  select coalesce(avg(octet_length(parts)), 0) from bodies where num in (select value from json_each(@places))
`
const TOP = `select max(num) from bodies`
const COUNT = `select count(*) from messages`

/** About how many bytes of text the messages have. Except for counting them, the cost does not depend on their number. */
export function measureTextBytes(db: Mirror): number {
  const top = db.prepare<[], number | null>(TOP).pluck().get() ?? 0
  const step = Math.max(1, Math.floor(top / SAMPLE))
  const places = Array.from({ length: Math.min(top, SAMPLE + 1) }, (_, index) => top - index * step)
  const mean =
    db
      .prepare<[{ places: string }], number>(MEAN)
      .pluck()
      .get({ places: JSON.stringify(places) }) ?? 0
  return Math.round(mean * (db.prepare<[], number>(COUNT).pluck().get() ?? 0))
}

/** With `aggregate` and the names, SQLite walks only the trees of these tables. */
const TERMS_BYTES = `
  select coalesce(sum(pgsize), 0)
  from sqlite_schema s join dbstat d on d.name = s.name and d.aggregate = 1
  where s.type = 'table' and (s.name glob 'message_terms_*' or s.name glob 'chat_terms_*')
`

/** Bytes of the full-text tables. It walks all their pages: call it seldom. */
export function measureTermsBytes(db: Mirror): number {
  return db.prepare<[], number>(TERMS_BYTES).pluck().get() ?? 0
}

/** Bytes of the mirror on disk, with its WAL; 0 if there is no mirror yet. */
export function measureMirrorBytes(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}
