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

/** Bytes of a database on disk, with its WAL; 0 if there is none. */
export function measureFile(path: string): number {
  const sizes = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}
