import type { Part, ToolPart } from '../../model/part.ts'
import { countLines, diffBeside, editsOf, editsWithin, type FileEdit } from '../../shared/edits.ts'
import { fieldsOf, firstText, summaryOf } from '../../shared/tools.ts'
import { count, plural } from '../lib/format.ts'
import type { IconName } from '../lib/icons.ts'
import { placesOf } from './places.ts'

/** How the body of a step is drawn: see `step-body.tsx`. */
export type View = 'terminal' | 'edits' | 'places' | 'file' | 'prose' | 'todos' | 'agent' | 'fields'

interface ToolSort {
  readonly names: RegExp
  readonly icon: IconName
  readonly verb: string
  readonly view: View
  /** Said instead of the verb when the call failed, was rejected or never ended. */
  readonly attempt: string
}

const sort = (names: RegExp, icon: IconName, view: View, verb: string, attempt: string): ToolSort => ({
  names,
  icon,
  verb,
  view,
  attempt,
})

/** Cursor's builds rename their tools; their words tell what they do. The first that fits decides. */
const sorts: readonly ToolSort[] = [
  // A tool of MCP is named by its server and itself: `postgres.query`.
  sort(/^mcp|mcp_?tool|mcp_?resource|^[^.\s]+\.[^.\s]+$/i, 'plug', 'fields', 'Asked', 'Tried to ask'),
  sort(/todo/i, 'list', 'todos', 'Planned', 'Tried to plan'),
  sort(/^task|agent|await_?task/i, 'agent', 'agent', 'Sent a subagent', 'Tried to send a subagent'),
  sort(/lint|diagnostic/i, 'check', 'fields', 'Checked', 'Tried to check'),
  sort(/terminal|shell|command|bash|exec|^run_/i, 'terminal', 'terminal', 'Ran', 'Tried to run'),
  sort(/delete|remove_?file/i, 'minus', 'fields', 'Deleted', 'Tried to delete'),
  sort(/^write|create_?file|new_?file/i, 'pen', 'edits', 'Wrote', 'Tried to write'),
  sort(/edit|write|replace|patch|reapply|notebook/i, 'pen', 'edits', 'Edited', 'Tried to edit'),
  sort(/web|fetch|url|browser|deep_?search|docs/i, 'globe', 'prose', 'Looked up', 'Tried to look up'),
  sort(/list_?dir|^ls|glob|file_?search|find_?files/i, 'folder', 'places', 'Listed', 'Tried to list'),
  sort(/grep|search|find|symbol|definition|usages/i, 'search', 'places', 'Searched', 'Tried to search'),
  sort(/image|diagram|mermaid/i, 'file', 'fields', 'Drew', 'Tried to draw'),
  sort(/plan|current_?step/i, 'list', 'fields', 'Planned', 'Tried to plan'),
  sort(/mode/i, 'list', 'fields', 'Changed mode', 'Tried to change mode'),
  sort(/ask|question/i, 'list', 'fields', 'Asked you', 'Tried to ask you'),
  sort(/memor|rule|knowledge/i, 'file', 'prose', 'Remembered', 'Tried to remember'),
  sort(/read|view|open|^cat|summar/i, 'file', 'file', 'Read', 'Tried to read'),
]

const OTHER = sort(/./, 'tool', 'fields', 'Called', 'Tried to call')

/** The verb, icon and view of a tool. A tool of an unknown kind is called by its name. */
export const sortOf = (name: string): ToolSort => sorts.find(({ names }) => names.test(name)) ?? OTHER

/** What a step did, as one line. */
export interface StepLine {
  readonly icon: IconName
  readonly verb: string
  readonly object: string
  /** Whether the object is a path or a command, and not prose. */
  readonly isCode: boolean
  readonly result: string | null
  /** Lines that an edit added and removed. */
  readonly lines: { readonly added: number; readonly removed: number } | null
}

const PROSE: ReadonlySet<View> = new Set(['todos', 'agent', 'prose'])

export function lineOf(part: ToolPart): StepLine {
  const { icon, verb, attempt, view, names } = sortOf(part.name)
  const isDone = part.status === 'completed'
  const said = isDone || (view === 'terminal' && part.status === 'error') ? verb : attempt
  return {
    icon,
    verb: said,
    object: objectOf(part, view, names),
    isCode: !PROSE.has(view),
    result: resultOf(part, view),
    lines: view === 'edits' && isDone ? linesOf(editsOfCall(part)) : null,
  }
}

function objectOf(part: ToolPart, view: View, names: RegExp): string {
  if (names === OTHER.names) return part.name
  if (/^mcp/i.test(part.name)) return part.name.replace(/^mcp[_-]+/i, '').replace(/_/, '.')
  if (part.name.includes('.')) return part.name
  const fields = fieldsOf(part.input)
  if (view === 'todos') return plural(todosOf(part).length, 'step')
  if (view === 'agent') return firstText(fields, ['description', 'name', 'prompt', 'task']) ?? ''
  if (view === 'edits') {
    const paths = [...new Set(editsOfCall(part).flatMap(({ path }) => path ?? []))]
    if (paths.length > 1) return `${paths[0]} and ${paths.length - 1} more`
    return paths[0] ?? summaryOf(part)
  }
  const asked = ['pattern', 'query', 'regex', 'searchTerm', 'search_term', 'globPattern', 'glob_pattern']
  if (view === 'places' || view === 'prose') return firstText(fields, asked) ?? summaryOf(part)
  const summary = summaryOf(part)
  return summary === '' && view === 'terminal' ? 'a command that Cursor did not record' : summary
}

const MARKS: Partial<Record<ToolPart['status'], string>> = {
  cancelled: 'cancelled',
  rejected: 'rejected',
  running: 'not ended',
}

function resultOf(part: ToolPart, view: View): string | null {
  const mark = MARKS[part.status]
  if (mark !== undefined) return mark
  if (part.status === 'error') {
    const code = /exit(?:ed)?(?: with)?(?: exit)?(?: code| status)?:? (\d+)/i.exec(part.error ?? '')?.[1]
    return code === undefined ? 'failed' : `exit ${code}`
  }
  if (view === 'terminal') {
    const code = fieldsOf(part.output)['exitCode'] ?? fieldsOf(part.output)['exit_code']
    return typeof code === 'number' && code !== 0 ? `exit ${code}` : null
  }
  if (view === 'todos') {
    const todos = todosOf(part)
    const done = todos.filter(({ status }) => status === 'completed').length
    return todos.length === 0 ? null : `${done} of ${todos.length} done`
  }
  if (view === 'file') {
    const lines = fieldsOf(part.output)['totalLinesInFile']
    return typeof lines === 'number' ? plural(lines, 'line') : null
  }
  if (view !== 'places') return null
  const places = placesOf(part.output)
  const files = new Set(places.map(({ path }) => path)).size
  if (places.length === 0) return null
  const hasLines = places.some(({ line, text }) => line !== null || text !== null)
  return hasLines ? `${count(places.length)} in ${plural(files, 'file')}` : `${count(files)} found`
}

const known = new WeakMap<ToolPart, readonly FileEdit[]>()

/** Like `editsOf`, computed once for each call. */
export function editsOfCall(part: ToolPart): readonly FileEdit[] {
  const edits = known.get(part) ?? (sortOf(part.name).view === 'edits' ? editsOf(part) : [])
  known.set(part, edits)
  return edits
}

/** Cursor may keep what a call changed beside it, as code: the call takes it over. @returns the parts that are left */
export function withoutDiffs(parts: readonly Part[]): readonly Part[] {
  const call = parts.find((part) => part.kind === 'tool' && sortOf(part.name).view === 'edits')
  const diff = diffBeside(parts)
  if (call?.kind !== 'tool' || diff === undefined) return parts
  known.set(call, editsWithin(call, parts))
  return parts.filter((part) => part !== diff)
}

/** Sums over edits that say what they changed; null if none does. */
export function linesOf(edits: readonly FileEdit[]): StepLine['lines'] {
  const counts = edits.flatMap((edit) => countLines(edit) ?? [])
  if (counts.length === 0) return null
  const sum = (name: 'added' | 'removed'): number => counts.reduce((all, each) => all + each[name], 0)
  return { added: sum('added'), removed: sum('removed') }
}

export interface Todo {
  readonly content: string
  readonly status: string | null
}

/** The steps of a plan that a call writes. */
export function todosOf({ input, output }: ToolPart): readonly Todo[] {
  const lists = [input, output].map((value) => fieldsOf(value)['todos'] ?? fieldsOf(value)['finalTodos'])
  const list = lists.find((value): value is unknown[] => Array.isArray(value)) ?? []
  return list.flatMap((each) => {
    const fields = fieldsOf(each)
    const content = firstText(fields, ['content', 'title', 'text'])
    return content === undefined ? [] : [{ content, status: firstText(fields, ['status']) ?? null }]
  })
}

/** Small edits and failures are open before one asks. */
export const startsOpen = (part: ToolPart): boolean =>
  part.status === 'error' || (part.status === 'completed' && isSmall(editsOfCall(part)))

const SMALL = 12

const isSmall = (edits: readonly FileEdit[]): boolean => {
  const lines = edits.reduce((sum, { hunks }) => sum + hunks.reduce((all, hunk) => all + hunk.lines.length, 0), 0)
  return lines > 0 && lines < SMALL
}
