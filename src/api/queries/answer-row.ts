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

/** A list as a parameter; null stands for no filter. */
export const bindList = (values: readonly (string | number)[] | null): string | null =>
  values === null ? null : JSON.stringify(values)

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
