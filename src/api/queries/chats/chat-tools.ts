import type { ChatAct } from './chat-acts.ts'

export interface ToolCount {
  readonly name: string
  /** All calls, whatever became of them. */
  readonly calls: number
  readonly errors: number
  readonly rejected: number
}

/** How often a chat called each tool, the most called first. */
export function chatTools(acts: readonly ChatAct[]): ToolCount[] {
  const tools = new Map<string, { name: string; calls: number; errors: number; rejected: number }>()
  for (const act of acts) {
    if (act.kind !== 'tool') continue
    const tool = tools.get(act.name) ?? { name: act.name, calls: 0, errors: 0, rejected: 0 }
    tool.calls += 1
    if (act.status === 'error') tool.errors += 1
    if (act.status === 'rejected') tool.rejected += 1
    tools.set(act.name, tool)
  }
  return [...tools.values()].sort((left, right) => right.calls - left.calls || (left.name < right.name ? -1 : 1))
}
