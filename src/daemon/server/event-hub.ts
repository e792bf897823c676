import type { DaemonEvent } from '../../api/context.ts'
import type { StepNews } from '../../engine/writer/writer.ts'

/** Sends events to the current listeners. Events are not stored. */
export class EventHub {
  readonly #listeners = new Set<(event: DaemonEvent) => void>()

  subscribe(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  send(type: DaemonEvent['type'], data: DaemonEvent['data']): void {
    for (const listener of this.#listeners) listener({ type, data })
  }

  /** Sends what a step of a pass has written. */
  publishStep({ messages, chatIds, losses, moreLosses }: StepNews): void {
    if (this.#listeners.size === 0) return
    for (const { id, chatId } of messages) this.send('message', { id, chatId })
    for (const id of chatIds) this.send('chat', { id })
    for (const loss of losses) this.send('loss', { ...loss })
    if (moreLosses > 0) this.send('loss', { kind: 'more', chatId: null, messageId: null, count: moreLosses })
  }
}
