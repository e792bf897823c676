import type { DaemonEvent } from './world.ts'

/** What is sent next: an event, a sign of life, or `end` once nothing will follow. */
type Outgoing = DaemonEvent | { readonly type: 'heartbeat' } | 'end'

export interface EventQueue {
  push(event: DaemonEvent): void
  /** Only where nothing else waits: a client that lags needs no sign of life on top. */
  beat(): void
  next(): Promise<Outgoing>
  /** Whatever waits is dropped. */
  end(): void
  isEnded(): boolean
}

/**
 * Holds events for one client that reads at its own pace. One that falls `lengthMax` behind is given up: its queue is
 * dropped and ends, for it would grow with every message indexed.
 */
export function createEventQueue(lengthMax: number): EventQueue {
  let waiting: Outgoing[] = []
  let ended = false
  let wake: (() => void) | null = null

  const add = (outgoing: Outgoing): void => {
    if (!ended) waiting.push(outgoing)
    wake?.()
  }
  const end = (): void => {
    ended = true
    waiting = []
    wake?.()
  }
  return {
    push: (event) => (waiting.length >= lengthMax ? end() : add(event)),
    beat: () => (waiting.length === 0 ? add({ type: 'heartbeat' }) : undefined),
    end,
    isEnded: () => ended,
    next: async () => {
      if (!ended && waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return waiting.shift() ?? 'end'
    },
  }
}
