import type { DaemonEvent } from '../../api/context.ts'
import type { Written } from '../../model/change.ts'

export type EventHub = ReturnType<typeof eventHub>

/** Sends events to the current listeners. Events are not stored. */
export function eventHub() {
  const listeners = new Set<(event: DaemonEvent) => void>()
  const send = (type: DaemonEvent['type'], data: DaemonEvent['data']): void => {
    for (const listener of listeners) listener({ type, data })
  }
  return {
    send,
    subscribe(listener: (event: DaemonEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Sends what a step of a pass has written. */
    publishWritten({ messages, chatIds, losses }: Written): void {
      for (const { id, chatId } of messages) send('message', { id, chatId })
      for (const id of chatIds) send('chat', { id })
      for (const loss of losses) send('loss', { ...loss })
    },
  }
}
