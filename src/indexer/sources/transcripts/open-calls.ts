import type { Json } from '../../../model/json.ts'
import type { Part, ToolPart } from '../../../model/part.ts'

/** At most this many calls wait for their results. */
const openCallsMax = 100

/**
 * The calls of a turn that have no result yet. Results are in the order of the calls, and most of them name the tool.
 */
export class OpenCalls {
  readonly #calls: { readonly parts: Part[]; readonly at: number }[] = []

  /** Appends the call to the parts of its message. */
  add(parts: Part[], call: ToolPart): void {
    this.#calls.push({ parts, at: parts.length })
    parts.push(call)
    if (this.#calls.length > openCallsMax) this.#calls.shift()
  }

  /**
   * Gives the result to the first open call of this tool, otherwise to the first open call. If no call is open, a
   * result with an output becomes a part of its own in `orphans`. Many results have no output.
   */
  end(name: string, output: Json, orphans: Part[]): void {
    const named = this.#calls.findIndex(({ parts, at }) => nameOf(parts[at]) === name)
    const [open] = this.#calls.splice(Math.max(named, 0), 1)
    const call = open?.parts[open.at]
    if (open !== undefined && call?.kind === 'tool') open.parts[open.at] = { ...call, status: 'completed', output }
    else if (output !== null)
      orphans.push({ ...openCall({ name, callId: null, input: null, paths: [] }), ...ended, output })
  }

  /** Call this at the end of a turn. */
  clear(): void {
    this.#calls.length = 0
  }
}

const ended = { status: 'completed' } as const
const nameOf = (part: Part | undefined): string | null => (part?.kind === 'tool' ? part.name : null)

/** A call before it is known how it ended. */
export const openCall = (call: Pick<ToolPart, 'name' | 'callId' | 'input' | 'paths'>): ToolPart => ({
  ...call,
  name: call.name === '' ? 'unknown' : call.name,
  kind: 'tool',
  status: 'running',
  output: null,
  error: null,
})
