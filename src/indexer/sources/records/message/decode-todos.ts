import type { TodoItem } from '../../../../model/part.ts'
import { filledStringIn, isBlank, numberIn, parsedRecord, wellFormed } from '../json/json-value.ts'

/** To-do items, written as objects or, by older builds, as JSON strings. One without words is dropped. */
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
