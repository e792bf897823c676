import type { DigestWalk } from '../../../mirror/digests/digest-format.ts'
import { toolStatuses, type ToolStatus } from '../../../model/part.ts'
import { useOfTool } from '../../queries/chats/chat-acts.ts'
import type { CallCounts } from '../../http/schemas/stats.ts'

interface ToolCounts {
  readonly name: string
  readonly use: 'reads' | 'edits' | null
  /** By index in `toolStatuses`. */
  readonly byStatus: number[]
}

interface FileCounts {
  reads: number
  edits: number
}

/** Failed and rejected calls touched no files. */
const touching: ReadonlySet<number> = new Set(['completed', 'running'].map((each) => statusAt(each as ToolStatus)))

function statusAt(status: ToolStatus): number {
  return toolStatuses.indexOf(status)
}

/** Counts tool calls, and the files that they read or edited. */
export class CallTally {
  calls = 0
  /** By the number of the path. */
  readonly files = new Map<number, FileCounts>()
  readonly #tools = new Map<number, ToolCounts>()
  readonly #nameOf: (num: number) => string

  constructor(nameOf: (num: number) => string) {
    this.#nameOf = nameOf
  }

  /** Adds the calls of the walk's current message. */
  add(walk: DigestWalk): void {
    for (let left = walk.callCount; left > 0; left -= 1, walk.nextCall()) {
      const tool = this.#toolOf(walk.tool)
      this.calls += 1
      tool.byStatus[walk.status] = (tool.byStatus[walk.status] ?? 0) + 1
      if (tool.use === null || !touching.has(walk.status)) continue
      for (let index = 0; index < walk.pathCount; index += 1) this.#fileOf(walk.path(index))[tool.use] += 1
    }
  }

  /** The most called first. */
  get byTool(): (CallCounts & { readonly name: string })[] {
    return [...this.#tools.values()]
      .map(({ name, byStatus }) => ({ name, ...countsOf(byStatus) }))
      .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1))
  }

  get all(): CallCounts {
    const tools = [...this.#tools.values()]
    return countsOf(toolStatuses.map((_, at) => tools.reduce((sum, { byStatus }) => sum + (byStatus[at] ?? 0), 0)))
  }

  #toolOf(num: number): ToolCounts {
    const known = this.#tools.get(num)
    if (known !== undefined) return known
    const name = this.#nameOf(num)
    const made = { name, use: useOfTool(name), byStatus: toolStatuses.map(() => 0) }
    this.#tools.set(num, made)
    return made
  }

  #fileOf(num: number): FileCounts {
    const known = this.files.get(num)
    if (known !== undefined) return known
    const made = { reads: 0, edits: 0 }
    this.files.set(num, made)
    return made
  }
}

function countsOf(byStatus: readonly number[]): CallCounts {
  const of = (status: ToolStatus): number => byStatus[statusAt(status)] ?? 0
  return {
    calls: byStatus.reduce((sum, count) => sum + count, 0),
    completed: of('completed'),
    errors: of('error'),
    rejected: of('rejected'),
    cancelled: of('cancelled'),
    running: of('running'),
  }
}
