import { useOfTool } from '../../../shared/tools.ts'
import { toolStatuses, type Part, type ToolStatus } from '../../../model/part.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { ChatFile, ToolCount } from '../../answers/chats.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

/** What a chat did, without texts: a tool call, or a file attached for the model. */
export type ChatAct =
  | { readonly kind: 'tool'; readonly name: string; readonly status: ToolStatus; readonly paths: readonly string[] }
  | { readonly kind: 'attachment'; readonly path: string }

const THREAD_PARTS = `
  select b.parts
  from messages m join bodies b on b.num = m.body
  where m.chat = ? and m.is_orphan = 0
  order by m.position, m.key
`

/** The acts of a chat's thread, in order, without those of orphans. */
export function listChatActs(db: Mirror, chatNum: number): ChatAct[] {
  const acts: ChatAct[] = []
  // One body at a time: a long chat has tens of megabytes of tool output, which are not needed here.
  for (const parts of db.prepare<[number], string>(THREAD_PARTS).pluck().iterate(chatNum)) {
    for (const part of parseParts(parts)) {
      if (part.kind === 'attachment') acts.push({ kind: 'attachment', path: part.path })
      if (part.kind === 'tool') acts.push(toolAct(part))
    }
  }
  return acts
}

function toolAct(part: Extract<Part, { kind: 'tool' }>): ChatAct {
  const status = toolStatuses.includes(part.status) ? part.status : 'completed'
  return { kind: 'tool', name: part.name, status, paths: part.paths }
}

/** Files that a chat read, edited or was given, the most used first. Failed and rejected calls do not count. */
export function chatFiles(acts: readonly ChatAct[]): ChatFile[] {
  const files = new Map<string, { path: string; reads: number; edits: number; attached: number }>()
  for (const act of acts) {
    const use = act.kind === 'attachment' ? 'attached' : useOf(act)
    if (use === null) continue
    for (const path of act.kind === 'attachment' ? [act.path] : new Set(act.paths)) {
      const file = files.get(path) ?? { path, reads: 0, edits: 0, attached: 0 }
      file[use] += 1
      files.set(path, file)
    }
  }
  return [...files.values()].sort((left, right) => total(right) - total(left) || (left.path < right.path ? -1 : 1))
}

function useOf(act: Extract<ChatAct, { kind: 'tool' }>): 'reads' | 'edits' | null {
  return act.status === 'completed' || act.status === 'running' ? useOfTool(act.name) : null
}

function total(file: ChatFile): number {
  return file.reads + file.edits + file.attached
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
