import { toolStatuses, type Part, type ToolStatus } from '../../../model/part.ts'
import { RowInsert } from '../../insert-rows.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

/** One tool call, with the facts that statistics count. */
export interface CallFact {
  readonly tool: string
  readonly status: ToolStatus
  /** Files and folders that the call names, without duplicates. */
  readonly paths: readonly string[]
}

const noCalls: readonly CallFact[] = []
/** A call with more paths than this lists files; it does not work on each of them. */
const PATHS_MAX = 100

export function callsOf(parts: readonly Part[]): readonly CallFact[] {
  // Most messages have no tool call. They share one empty list.
  if (!parts.some((part) => part.kind === 'tool')) return noCalls
  return parts.flatMap((part) => {
    if (part.kind !== 'tool') return []
    const { name: tool, paths } = part
    // A damaged body may contain an unknown status.
    const status = toolStatuses.includes(part.status) ? part.status : 'completed'
    return [{ tool, status, paths: paths.length < 2 ? paths : [...new Set(paths)].slice(0, PATHS_MAX) }]
  })
}

/** The rows of a message's calls. @param body the number of its body */
export const rowsOf = (body: number | bigint, calls: readonly CallFact[]): unknown[][] =>
  calls.flatMap(({ tool, status, paths }, call) =>
    (paths.length === 0 ? [null] : paths).map((path, file) => [body, call, file, tool, status, path]),
  )

/** They are removed with their body. */
export const addCalls = new RowInsert('calls (body, call, file, tool, status, path)', '(?, ?, ?, ?, ?, ?)')
const DROP_CALLS = `delete from calls where body = ?`

export function replaceCalls(db: Mirror, body: number, calls: readonly CallFact[]): void {
  prepared(db, DROP_CALLS).run(body)
  addCalls.run(db, rowsOf(body, calls))
}
