/** Cursor renames its tools (`read_file_v2`, `StrReplace`). So names are compared without case, version and `_`. */
const reading = new Set(['read', 'readfile', 'readnotebook'])
const editing = new Set(
  (
    'edit editfile multiedit editnotebook searchreplace strreplace write writefile createfile ' +
    'reapply applypatch delete deletefile'
  ).split(' '),
)

/** What a tool of this name does to the files in a call; null if it is neither reading nor editing. */
export function useOfTool(toolName: string): 'reads' | 'edits' | null {
  const name = toolName
    .toLowerCase()
    .replace(/_v\d+$/u, '')
    .replaceAll('_', '')
  if (reading.has(name)) return 'reads'
  return editing.has(name) ? 'edits' : null
}

export type CallKind = 'read' | 'edit' | 'shell' | 'search' | 'todo' | 'agent' | 'other'

/** What a call does, for people. The words of an unknown name tell it. A plan that is created is no edit. */
export function callKindOf(toolName: string): CallKind {
  const use = useOfTool(toolName)
  if (use !== null) return use === 'reads' ? 'read' : 'edit'
  const words = toolName.toLowerCase()
  if (/todo/.test(words)) return 'todo'
  if (/^task|subagent/.test(words)) return 'agent'
  if (/terminal|shell|command|bash|exec/.test(words)) return 'shell'
  if (/edit|write|replace|patch|delete/.test(words)) return 'edit'
  if (/grep|search|glob|find|list_?dir|^ls/.test(words)) return 'search'
  return /read|fetch|view|cat/.test(words) ? 'read' : 'other'
}
