import type { MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'

/**
 * Which of these messages say only what the thread, or one before them, says already. Sources name messages differently
 * and cut them differently, so that texts are compared: all texts of a copy stand in the thread. One of nothing but tool
 * calls, told without their output, is a copy where the thread has tool calls of its own.
 */
export function findCopies(thread: readonly NextMessage[], others: readonly NextMessage[]): ReadonlySet<NextMessage> {
  const copies = new Set<NextMessage>()
  if (others.length === 0) return copies
  const known = new Set(thread.flatMap(({ columns }) => keysOf(columns)))
  const hasTools = thread.some(({ columns }) => columns.tool_calls > 0)
  // What one source tells is compared with what those before it told, and not with itself: a word can be said twice.
  for (const source of new Set(others.map(({ columns }) => columns.source))) {
    const fresh: string[] = []
    for (const message of others.filter(({ columns }) => columns.source === source)) {
      const keys = keysOf(message.columns)
      const isCopy =
        keys.length === 0 ? hasTools && message.columns.text_keys === '' : keys.every((key) => known.has(key))
      if (isCopy) copies.add(message)
      else fresh.push(...keys)
    }
    for (const key of fresh) known.add(key)
  }
  return copies
}

const keysOf = ({ text_keys }: MessageColumns): string[] => splitTextKeys(text_keys)
