import type { Part, TodoItem } from '../../../model/part.ts'
import { filledString, isBlank, parseJson, wellFormed } from '../records/json.ts'

/** A plan's file as it was read. */
export interface DecodedPlan {
  /** The plan's name, as the call that wrote it has it; null if the file has none. */
  readonly name: string | null
  /** Empty for a file without content. */
  readonly parts: readonly Part[]
}

const FRONT_MATTER = /^---\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/

/**
 * Decodes a plan's file: front matter with `name`, `overview`, `todos` and `isProject`, then Markdown. Total: if a line of the
 * front matter has another form, it stays in the text, whole.
 * @param path the file's own path, which the plan is shown with
 */
export function decodePlan(content: string, path: string): DecodedPlan {
  const text = wellFormed(content.replace(/^\uFEFF/, ''))
  const [whole = '', matter = ''] = FRONT_MATTER.exec(text) ?? []
  const { name, overview, todos, isKnown } = decodeMatter(matter.split(/\r?\n/))
  const body = isKnown
    ? [overview, text.slice(whole.length).trim()].filter((each) => !isBlank(each)).join('\n\n')
    : text
  const plan: Part = { kind: 'plan', title: name, path, text: body }
  const parts: readonly Part[] = [
    ...(isBlank(body) ? [] : [plan]),
    ...(isKnown && todos.length > 0 ? [{ kind: 'todo' as const, items: todos }] : []),
  ]
  return { name, parts }
}

function decodeMatter(lines: readonly string[]) {
  const fields = new Map<string, string>()
  const todos: TodoItem[] = []
  let isKnown = true
  for (const line of lines) {
    const [, dash = '', key = '', given = ''] = /^(?: {0,4}(- )| {2,6})?(\w+):(?: +(.*))?$/.exec(line) ?? []
    const isItem = line.startsWith(' ') || dash !== ''
    const value = scalar(given.trim())
    if (isItem && key === 'id' && dash !== '') todos.push({ id: value, content: '', status: null })
    else if (isItem && (key === 'content' || key === 'status') && todos.length > 0)
      todos.push({ ...(todos.pop() as TodoItem), [key]: value })
    else if (!isItem && key !== '' && value !== null) fields.set(key, value)
    else isKnown &&= isBlank(line)
    isKnown &&= value !== null
  }
  const isEmpty = todos.some(({ content }) => content === '')
  const name = filledString(fields.get('name')) ?? null
  return { name, overview: fields.get('overview') ?? '', todos, isKnown: isKnown && !isEmpty }
}

/** A value of YAML on one line; null for one in a form that Cursor was not seen to write. */
function scalar(given: string): string | null {
  if (given.startsWith('"')) return filledString(parseJson(given)?.value)
  if (given.startsWith("'")) return /^'(?:[^']|'')*'$/.test(given) ? given.slice(1, -1).replaceAll("''", "'") : null
  return /^[|>&*!{%@`]|^\[(?!\]$)/.test(given) ? null : given
}
