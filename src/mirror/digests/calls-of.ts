import type { Part, ToolStatus } from '../../model/part.ts'

/** A call of a tool, as it is counted. */
export interface CallFact {
  readonly name: string
  readonly status: ToolStatus
  /** Files and folders that it names, each once. */
  readonly paths: readonly string[]
}

const noCalls: readonly CallFact[] = []
/** More than this many are a list and no act. */
const PATHS_MAX = 100

export function callsOf(parts: readonly Part[]): readonly CallFact[] {
  // Most messages call nothing: they share one list.
  if (!parts.some((part) => part.kind === 'tool')) return noCalls
  return parts.flatMap((part) => {
    if (part.kind !== 'tool') return []
    const { name, status, paths } = part
    return [{ name, status, paths: paths.length < 2 ? paths : [...new Set(paths)].slice(0, PATHS_MAX) }]
  })
}
