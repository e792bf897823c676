import type { ToolPart } from '../model/part.ts'

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

type Fields = Readonly<Record<string, unknown>>

/** The fields of a JSON object. Of any other value none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** The first of these fields that is a text. */
export const firstText = (fields: Fields, names: readonly string[]): string | undefined =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string' && value !== '')

const COMMANDS = ['command', 'cmd']
/** Cursor's builds name the fields of their tools differently. */
const OTHERS = [
  'current_step',
  'completed_subtitle',
  'query',
  'pattern',
  'searchTerm',
  'search_term',
  'globPattern',
  'url',
  'description',
  'path',
]

/** The one line that says what a call did: its command, path or query. */
export function summaryOf({ input, paths }: ToolPart): string {
  if (typeof input === 'string') return input
  const fields = fieldsOf(input)
  const command = firstText(fields, COMMANDS)
  if (command !== undefined) return command
  const [path, ...others] = paths
  if (path !== undefined) return others.length > 0 ? `${path} and ${others.length} more` : path
  return firstText(fields, [...OTHERS, ...Object.keys(fields)]) ?? ''
}
