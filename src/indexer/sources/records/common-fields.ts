import {
  asRecord,
  filledString,
  firstFilledIn,
  filledStringIn,
  type JsonRecord,
  isBlank,
  numberIn,
  parsedRecord,
  wellFormed,
} from './json/json-value.ts'
import type { TodoItem } from '../../../model/part.ts'

/** The path of a URI, which is VS Code's URI object or a string. A string is returned unchanged. */
export function readUriPath(uri: unknown): string | null {
  return filledString(uri) ?? firstFilledIn(asRecord(uri), ['fsPath', 'path', 'external', 'relativeWorkspacePath'])
}

/** The path of an object that has a `uri`, or is a URI itself. */
export function readItemPath(item: unknown): string | null {
  return readUriPath(asRecord(item)?.['uri']) ?? readUriPath(item)
}

/** `default` and `auto` leave the choice to Cursor and are not models. */
export function readModelName(record: JsonRecord | null, field: string): string | null {
  const name = filledStringIn(record, field)
  return name === null || /^\s*(?:default|auto)\s*$/i.test(name) ? null : name
}

/** To-do items: objects or, in older builds, JSON strings. Items without text are dropped. */
export function decodeTodos(items: readonly unknown[]): readonly TodoItem[] {
  return items.map(decodeTodo).filter((item) => item !== null)
}

function decodeTodo(item: unknown): TodoItem | null {
  const record = parsedRecord(item)
  if (record === null) return typeof item === 'string' && !isBlank(item) ? bareTodo(item) : null
  const content = filledStringIn(record, 'content')
  if (content === null) return null
  const id = filledStringIn(record, 'id') ?? numberIn(record, 'id')?.toString() ?? null
  return { id, content, status: filledStringIn(record, 'status') }
}

const bareTodo = (text: string): TodoItem => ({ id: null, content: wellFormed(text), status: null })
