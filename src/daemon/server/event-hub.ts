import type { DaemonEvent } from '../../api/http/api-context.ts'

/** Hands events to whoever listens now; nobody listening, nothing is kept. */
export class EventHub {
  readonly #listeners = new Set<(event: DaemonEvent) => void>()

  subscribe(listener: (event: DaemonEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  send(type: DaemonEvent['type'], data: DaemonEvent['data']): void {
    for (const listener of this.#listeners) listener({ type, data })
  }
}
