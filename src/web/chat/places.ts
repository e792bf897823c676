import { fieldsOf, firstText } from '../../shared/tools.ts'

/** A place that a search found. */
export interface Place {
  readonly path: string
  /** From 1; null if only the file was found. */
  readonly line: number | null
  readonly text: string | null
}

const PATHS = ['file', 'path', 'relativeWorkspacePath', 'resource', 'uri', 'filePath', 'relPath', 'absPath', 'name']
const LINES = ['lineNumber', 'line', 'startLineNumber', 'startLine', 'line_number']
const TEXTS = ['content', 'previewText', 'text', 'contents', 'snippet', 'lineText']
const DEPTH_MAX = 12
const PLACES_MAX = 5000

const known = new WeakMap<object, readonly Place[]>()

/** The places in the output of a searching tool: Cursor's builds nest and name them differently. Empty if there is none. */
export function placesOf(output: unknown): readonly Place[] {
  if (typeof output === 'string') return placesInText(output)
  if (typeof output !== 'object' || output === null) return []
  const before = known.get(output)
  if (before !== undefined) return before
  const places: Place[] = []
  collect(output, null, places, 0)
  const text = firstText(fieldsOf(output), ['output', 'contents', 'content', 'result', 'text'])
  const found = places.length === 0 && text !== undefined ? placesInText(text) : places
  known.set(output, found)
  return found
}

function collect(value: unknown, path: string | null, places: Place[], depth: number): void {
  if (depth > DEPTH_MAX || places.length >= PLACES_MAX) return
  if (Array.isArray(value)) {
    for (const each of value) {
      const isPath = typeof each === 'string' && /^\S[^\n]*$/.test(each) && /[/.\\]/.test(each)
      if (isPath) places.push({ path: each, line: null, text: null })
      else collect(each, path, places, depth + 1)
    }
    return
  }
  const fields = fieldsOf(value)
  const own = firstText(fields, PATHS) ?? path
  const text = firstText(fields, TEXTS)
  if (own !== null && text !== undefined) {
    if (fields['isContextLine'] !== true) places.push({ path: own, line: lineIn(fields, 0), text })
    return
  }
  const found = places.length
  for (const each of Object.values(fields)) if (typeof each === 'object') collect(each, own, places, depth + 1)
  if (places.length === found && own !== null && own !== path) {
    places.push({ path: own, line: lineIn(fields, 0), text: null })
  }
}

function lineIn(value: unknown, depth: number): number | null {
  if (depth > 4 || typeof value !== 'object' || value === null) return null
  const fields = value as Readonly<Record<string, unknown>>
  for (const name of LINES) if (typeof fields[name] === 'number') return fields[name]
  for (const each of Object.values(fields)) {
    const line = lineIn(each, depth + 1)
    if (line !== null) return line
  }
  return null
}

/** `src/a.ts:12:text`, one a line, as programs print it. Empty if not most lines are so. */
function placesInText(text: string): readonly Place[] {
  const lines = text.split('\n', PLACES_MAX).filter((line) => line.trim() !== '')
  const places = lines.flatMap((line) => {
    const [, path, number, rest] = /^([^\s:][^:]*):(\d+):(.*)$/.exec(line) ?? []
    return path === undefined ? [] : [{ path, line: Number(number), text: rest ?? '' }]
  })
  return places.length * 2 > lines.length ? places : []
}
