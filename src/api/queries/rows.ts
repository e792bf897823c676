import type { Mirror } from '../../mirror/open.ts'
import { HUB } from '../../mirror/sources/sources.ts'

type Cell = string | number | null

/** Columns in the names of an answer. */
export type Row = Readonly<Record<string, Cell>>

const isTime = (name: string): boolean => /(?:^at|At)$/.test(name)
const isFlag = (name: string): boolean => /^(?:is[A-Z]|deletedInCursor$|running$)/.test(name)

/**
 * A row of a statement as an answer gives it. The names say how: a time ends in `At`, or is `at`, and is an integer in the
 * mirror; a flag begins with `is`, or says how a chat is, and is 0 or 1.
 * @param json names of columns that are JSON, or null
 */
export function answerRow<Answer>(row: Row, json: readonly (keyof Answer & string)[] = []): Answer {
  const cells = Object.entries(row).map(([name, cell]): [string, unknown] => {
    if (isTime(name)) return [name, toIso(cell as number | null)]
    if (isFlag(name)) return [name, cell === 1]
    return [name, json.includes(name as keyof Answer & string) && cell !== null ? JSON.parse(String(cell)) : cell]
  })
  return Object.fromEntries(cells) as Answer
}

/**
 * A request as the parameters of a statement, by its own names: a list as JSON, a flag as 0 or 1. Null stands for no filter.
 * SQLite ignores those that a statement does not use.
 */
export const bind = (request: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(request).map(([name, value]): [string, unknown] => {
      if (Array.isArray(value)) return [name, JSON.stringify(value)]
      return [name, typeof value === 'boolean' ? Number(value) : value]
    }),
  )

/** The row of a statement that always gives one. */
export function theRow<Given>(statement: { get(bound: object): Given | undefined }, bound: object = {}): Given {
  const row = statement.get(bound)
  if (row === undefined) throw new Error('a statement gave no row')
  return row
}

/** The project of a chat as JSON, from `left join projects p on p.num = c.project`. */
export const PROJECT_REF = `iif(p.num is null, null, json_object('id', p.id, 'name', p.name)) as project`
/** The machine of a chat as JSON, from `left join machines h on h.id = c.machine`. */
export const MACHINE_REF = `iif(h.id is null, null, json_object('name', h.name, 'user', h.user)) as machine`
/** Where a chat or message comes from, from `join sources s`. A pulled one names its hub. */
export const SOURCE_NAME = `case s.kind when '${HUB}' then s.path else s.kind end as source`

/** ISO 8601 UTC with milliseconds. @param epochMs the mirror's integer, or null if the time is unknown */
export function toIso(epochMs: number | null): string | null {
  if (epochMs === null) return null
  const time = new Date(epochMs)
  // `toISOString` throws for a time outside the calendar. Such a time is treated as unknown, so that the list still works.
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}

/** Runs several reads in one snapshot: the writer must not commit between a list and its total. */
export const inSnapshot = <Answer>(db: Mirror, read: () => Answer): Answer => db.transaction(read)()

/** From here on an answer is slow. */
const SLOW_MS = 25

/**
 * Caches an answer until another connection writes, by `pragma data_version`. That does not see this connection's own
 * writes: use it for readers.
 * @param factor a slow answer is reused for so many times as long as it took, also if another connection writes meanwhile
 */
export function cached<Answer>(read: (db: Mirror) => Answer, factor = 0): (db: Mirror) => Answer {
  const entries = new WeakMap<Mirror, { dataVersion: unknown; answer: Answer; reuseUntilMs: number }>()
  return (db) => {
    const dataVersion = db.pragma('data_version', { simple: true })
    const entry = entries.get(db)
    const startedAtMs = performance.now()
    if (entry !== undefined && (entry.dataVersion === dataVersion || startedAtMs < entry.reuseUntilMs))
      return entry.answer
    const answer = read(db)
    const endedAtMs = performance.now()
    const tookMs = endedAtMs - startedAtMs
    entries.set(db, { dataVersion, answer, reuseUntilMs: tookMs > SLOW_MS ? endedAtMs + tookMs * factor : 0 })
    return answer
  }
}
