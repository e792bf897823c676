import type { ToolPart } from '../model/part.ts'

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
