import type { ChatAct } from './chat-acts.ts'

export interface ChatFile {
  readonly path: string
  /** Calls that read it, edits it received, times it was attached. */
  readonly reads: number
  readonly edits: number
  readonly attached: number
}

/** Cursor's builds rename their tools (`read_file_v2`, `StrReplace`): names are compared without case, version, `_`. */
const READING_TOOLS = new Set(['read', 'readfile', 'readnotebook'])
const EDITING_TOOLS = new Set(
  (
    'edit editfile multiedit editnotebook searchreplace strreplace write writefile createfile ' +
    'reapply applypatch delete deletefile'
  ).split(' '),
)

/** Files a chat read, edited or was given, the busiest first; calls that failed or were refused touched nothing. */
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

/** What a tool of this name does to the files that a call names; null for nothing that is known. */
export function useOfTool(toolName: string): 'reads' | 'edits' | null {
  const name = toolName
    .toLowerCase()
    .replace(/_v\d+$/u, '')
    .replaceAll('_', '')
  if (READING_TOOLS.has(name)) return 'reads'
  return EDITING_TOOLS.has(name) ? 'edits' : null
}

function total(file: ChatFile): number {
  return file.reads + file.edits + file.attached
}
