/** Every timer of the daemon, so that all of them end with it. */
export class Timers {
  readonly #timers = new Set<NodeJS.Timeout>()
  #isStopped = false

  later(act: () => void, delayMs: number): void {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, delayMs)
    this.#timers.add(timer)
  }

  every(act: () => void, intervalMs: number): void {
    if (!this.#isStopped) this.#timers.add(setInterval(act, intervalMs))
  }

  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
