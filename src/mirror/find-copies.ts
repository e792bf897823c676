import type { MessageId } from '../model/ids.ts'
import type { Part } from '../model/part.ts'
import type { NextMessage } from './message-columns.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { comparableTexts } from './text-key.ts'

/**
 * Which of these messages say only what the thread says already. Sources name messages differently and cut them
 * differently, so that texts are compared: all texts of a copy stand in the thread. One without any text, such as a
 * tool call told without its output, is a copy where the thread has tool calls of its own.
 */
export function findCopies(
  db: Mirror,
  thread: readonly NextMessage[],
  others: readonly NextMessage[],
): ReadonlySet<MessageId> {
  if (others.length === 0 || thread.length === 0) return new Set()
  const texts = new Set(thread.flatMap((message) => comparableTexts(partsOf(db, message))))
  const hasTools = thread.some(({ columns }) => columns.tool_calls > 0)
  const isCopy = (message: NextMessage): boolean => {
    const own = comparableTexts(partsOf(db, message))
    return own.length === 0 ? hasTools : own.every((text) => texts.has(text))
  }
  return new Set(others.filter(isCopy).map(({ columns }) => columns.id))
}

const READ_PARTS = `select parts from bodies where num = ?`

function partsOf(db: Mirror, { held, partsJson }: NextMessage): readonly Part[] {
  const json = partsJson ?? prepared<{ parts: string }>(db, READ_PARTS).get(held?.body)?.parts ?? '[]'
  return JSON.parse(json) as Part[]
}
