/** A clock that only moves when a test moves it, with timers. */
export class FakeClock {
  #nowMs = Date.UTC(2026, 0, 5)
  #timers: { readonly atMs: number; readonly act: () => void }[] = []

  readonly now = (): number => this.#nowMs

  readonly later = (act: () => void, delayMs: number): void => {
    this.#timers.push({ atMs: this.#nowMs + delayMs, act })
  }

  /** The remaining delays of waiting timers, shortest first. */
  get delays(): number[] {
    return this.#timers.map(({ atMs }) => atMs - this.#nowMs).toSorted((left, right) => left - right)
  }

  /** Sets the clock. The delays of timers do not change. */
  setBack(ms: number): void {
    this.#nowMs -= ms
    this.#timers = this.#timers.map(({ atMs, act }) => ({ atMs: atMs - ms, act }))
  }

  /** Moves forward, timer by timer. Promises settle in between. */
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

/** Lets the callbacks of settled promises run. */
export const settle = (): Promise<void> => new Promise((resume) => setImmediate(resume))
