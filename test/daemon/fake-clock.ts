/** A clock that stands still until it is moved, and the timers that hang on it. */
export class FakeClock {
  #nowMs = Date.UTC(2026, 0, 5)
  #timers: { readonly atMs: number; readonly act: () => void }[] = []

  readonly now = (): number => this.#nowMs

  readonly later = (act: () => void, delayMs: number): void => {
    this.#timers.push({ atMs: this.#nowMs + delayMs, act })
  }

  /** Delays of what waits, from now, shortest first. */
  get delays(): number[] {
    return this.#timers.map(({ atMs }) => atMs - this.#nowMs).toSorted((left, right) => left - right)
  }

  /** Somebody sets the clock; timers run on as they would have. */
  setBack(ms: number): void {
    this.#nowMs -= ms
    this.#timers = this.#timers.map(({ atMs, act }) => ({ atMs: atMs - ms, act }))
  }

  /** Moves on, timer by timer; promises settle in between. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      const due = this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((left, right) => left.atMs - right.atMs)[0]
      if (due === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.act()
      await settle()
    }
    this.#nowMs = endMs
    await settle()
  }
}

/** Lets promises that are settled already run what hangs on them. */
export const settle = (): Promise<void> => new Promise((resume) => setImmediate(resume))
