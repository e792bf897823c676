import { toolStatuses, type Part, type ToolStatus } from '../../../model/part.ts'
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

const ADD_CALL = `insert into calls (body, call, file, tool, status, path) values (?, ?, ?, ?, ?, ?)`
const DROP_CALLS = `delete from calls where body = ?`

/** Writes the calls of a new body. They are removed with it. */
export function addCalls(db: Mirror, body: number | bigint, calls: readonly CallFact[]): void {
  for (const [call, { tool, status, paths }] of calls.entries()) {
    prepared(db, ADD_CALL).run(body, call, 0, tool, status, paths[0] ?? null)
    for (let file = 1; file < paths.length; file += 1) {
      prepared(db, ADD_CALL).run(body, call, file, tool, status, paths[file])
    }
  }
}

export function replaceCalls(db: Mirror, body: number, calls: readonly CallFact[]): void {
  prepared(db, DROP_CALLS).run(body)
  addCalls(db, body, calls)
}
