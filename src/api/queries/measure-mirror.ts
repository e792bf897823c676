import type { Mirror } from '../../mirror/open.ts'
import { statSync } from 'node:fs'

/** So many bodies are weighed; where there are more, those at even distances stand for the rest. */
const SAMPLE = 200

const MEAN = `
  select coalesce(avg(octet_length(parts)), 0) from bodies where num in (select value from json_each(@places))
`
const TOP = `select max(num) from bodies`
const COUNT = `select count(*) from messages`

/** About how many bytes of text the messages hold; the same work however many there are, but for counting them. */
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

/** Bytes of the mirror on disk, its WAL included; 0 where there is none yet. */
export function measureMirrorBytes(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}
